/**
 * Regular expressions in the syntax that every RE2 takes: Go's, C++'s (Envoy, gRPC in Python and C++),
 * Java's and the one of grpc-js. They are read, not compiled: what an expression costs is known before
 * anything pays for it.
 *
 * @module
 */

/** An expression that every RE2 can compile. */
export interface Re2Expression {
  /** Without the names of groups, which are written in more ways than one and mean nothing here. */
  readonly text: string;
  /** The same with all counted repetitions cut to one, so that compiling it costs what its length does. */
  readonly bare: string;
  /** At most so many instructions of RE2's compiled program, whose bytes are UTF-8. */
  readonly size: number;
  /** Whether it means something else, or is refused, where letters are bytes: Envoy's RE2 reads Latin-1. */
  readonly wide: boolean;
}

/** Nothing longer is looked at. UTF-16 units. */
const LONGEST = 5000;
/** Groups within groups; Go and C++ take 1000. */
const DEEPEST = 100;
/** RE2 repeats nothing more often, in repetitions of repetitions together. */
const MAX_REPEAT = 1000;

/** Instructions of every program. */
const BASE = 5;
/** Of a repetition, of a group, and of a choice more: marks and jumps. */
const JUMPS = 3;
/** Of everything that is not ASCII, as UTF-8. */
const NOT_ASCII = 6;
/** Of a range beyond ASCII, as UTF-8. */
const WIDE_RANGE = 30;
/** Of a class of Unicode: the largest have about 700 ranges. */
const UNICODE = 1000;

/** Ranges in ASCII of the classes of Perl and POSIX: at most so many. */
const RANGES = 4;
const POSIX =
  /\[:\^?(?:alnum|alpha|ascii|blank|cntrl|digit|graph|lower|print|punct|space|upper|word|xdigit):\]/y;
/** Classes of Unicode that every version has. */
const UNICODE_CLASS =
  /[pP](?:[CLMNPSZ]|\{(?:C|Cc|Cf|Co|L|Ll|Lm|Lo|Lt|Lu|M|Mc|Me|Mn|N|Nd|Nl|No|P|Pc|Pd|Pe|Pf|Pi|Po|Ps|S|Sc|Sk|Sm|So|Z|Zl|Zp|Zs|Arabic|Armenian|Cyrillic|Devanagari|Georgian|Greek|Han|Hangul|Hebrew|Hiragana|Katakana|Latin|Thai)\})/y;
const NAMED_GROUP = /\(\?P?<[A-Za-z_]\w*>/y;
const FLAGGED_GROUP = /\(\?[imsU]*(?:-[imsU]+)?:/y;
const FLAGS = /\(\?(?:[imsU]+|(?=-))(?:-[imsU]+)?\)/y;
const COUNTS = /\{(\d+)(?:(,)(\d*))?\}/y;
const HEX = /x(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]{1,6})\})/y;
const OCTAL = /0([0-7]{0,2})/y;

/** What part of an expression costs. */
interface Part {
  readonly size: number;
  /** How often repetitions within repeat, at most. */
  readonly repeats: number;
}

/** What can be repeated, or cannot. */
interface Atom extends Part {
  readonly repeatable: boolean;
  /** A letter of several bytes: where letters are bytes, the last of them alone would be repeated. */
  readonly bytes?: boolean;
}

class NoExpression extends Error {}

/** Reads an expression; undefined where some RE2 refuses it, or where it is too long to look at. */
export function readRe2(text: string): Re2Expression | undefined {
  if (text.length > LONGEST || !text.isWellFormed()) return undefined;
  try {
    return new Reader(text).read();
  } catch (error) {
    if (error instanceof NoExpression) return undefined;
    throw error;
  }
}

class Reader {
  readonly #text: string;
  /** Whether letters may be of either case: somewhere is enough. */
  readonly #folds: boolean;
  #at = 0;
  #depth = 0;
  #wide = false;
  #copied = 0;
  #plain = "";
  #bare = "";

  constructor(text: string) {
    this.#text = text;
    this.#folds = /\(\?[msU]*i/.test(text);
  }

  read(): Re2Expression {
    const { size } = this.#choice();
    if (this.#at < this.#text.length) throw new NoExpression();
    this.#replace(this.#at, "", "");
    return { text: this.#plain, bare: this.#bare, size: size + BASE, wide: this.#wide };
  }

  /** Ends at a closing parenthesis, or where the text does. */
  #choice(): Part {
    let { size, repeats } = this.#sequence();
    while (this.#take("|")) {
      const next = this.#sequence();
      size += next.size + JUMPS;
      repeats = Math.max(repeats, next.repeats);
    }
    return { size, repeats };
  }

  #sequence(): Part {
    let size = 0;
    let repeats = 1;
    while (this.#at < this.#text.length && !"|)".includes(this.#text[this.#at]!)) {
      const part = this.#repeated(this.#atom());
      size += part.size;
      repeats = Math.max(repeats, part.repeats);
    }
    return { size, repeats };
  }

  #repeated(atom: Atom): Part {
    const range = this.#repetition();
    if (range === undefined) return atom;
    this.#take("?");
    if (!atom.repeatable || this.#text[this.#at] === "{") throw new NoExpression();
    if (this.#repetition() !== undefined) throw new NoExpression();
    if (atom.bytes) this.#wide = true;
    const [from, to] = range;
    const repeats = atom.repeats * Math.max(1, from, to ?? 0);
    if (repeats > MAX_REPEAT) throw new NoExpression();
    const times = Math.max(1, from, to ?? 0);
    const optional = to === undefined ? 1 : to - from;
    return { size: atom.size * times + JUMPS * optional, repeats };
  }

  /** How often, from and to; without the latter: without end. Undefined: nothing is repeated here. */
  #repetition(): readonly [number, number | undefined] | undefined {
    if (this.#take("*")) return [0, undefined];
    if (this.#take("+")) return [1, undefined];
    if (this.#take("?")) return [0, 1];
    const start = this.#at;
    const counts = this.#match(COUNTS);
    if (counts === undefined) return undefined;
    const [, least = "", comma, most = ""] = counts;
    // Some read a zero that leads as part of the number, others take all of it literally.
    if (/^0\d/.test(least) || /^0\d/.test(most)) throw new NoExpression();
    const from = Number(least);
    const to = comma === undefined ? from : most === "" ? undefined : Number(most);
    if (from > MAX_REPEAT || (to ?? from) > MAX_REPEAT || (to ?? from) < from) {
      throw new NoExpression();
    }
    this.#replace(start, counts[0], "{1}");
    return [from, to];
  }

  #atom(): Atom {
    const start = this.#at;
    const letter = String.fromCodePoint(this.#text.codePointAt(start)!);
    switch (letter) {
      case "(":
        return this.#group();
      case "[":
        return atom(this.#class());
      case "*":
      case "+":
      case "?":
        throw new NoExpression();
    }
    if (letter === "{" && this.#match(COUNTS) !== undefined) throw new NoExpression();
    this.#at += letter.length;
    // Java's RE2 takes no repetition of a brace that stands for itself.
    if ("^${".includes(letter)) return { ...atom(JUMPS), repeatable: false };
    if (letter === ".") return atom(2 + NOT_ASCII);
    if (letter === "\\") return this.#escape();
    if (letter.codePointAt(0)! < 0x80) return atom(this.#letterSize(letter));
    if (this.#folds) this.#wide = true;
    return { ...atom(this.#folds ? WIDE_RANGE : 4), bytes: true };
  }

  #group(): Atom {
    const start = this.#at;
    if (this.#match(FLAGS) !== undefined) return { ...atom(0), repeatable: false };
    const name = this.#match(NAMED_GROUP);
    if (name !== undefined) this.#replace(start, name[0], "(", "(");
    const captures = name !== undefined || this.#match(FLAGGED_GROUP) === undefined;
    if (name === undefined && captures) {
      this.#at++;
      if (this.#text[this.#at] === "?") throw new NoExpression();
    }
    if (++this.#depth > DEEPEST) throw new NoExpression();
    const { size, repeats } = this.#choice();
    this.#depth--;
    if (!this.#take(")")) throw new NoExpression();
    return { size: captures ? size + JUMPS : size, repeats, repeatable: true };
  }

  /** Outside of classes, after the backslash. */
  #escape(): Atom {
    const known = this.#escapedClass();
    if (known !== undefined) return atom(known);
    if (/[bBAz]/.test(this.#text[this.#at] ?? "")) {
      this.#at++;
      return { ...atom(JUMPS), repeatable: false };
    }
    const code = this.#escapedLetter();
    if (code >= 0x80) this.#wide = true;
    return atom(code >= 0x80 ? WIDE_RANGE : this.#letterSize(String.fromCharCode(code)));
  }

  /** Of an ASCII letter. Two have a third form, beyond ASCII: the Kelvin sign and the long s. */
  #letterSize(letter: string): number {
    return this.#folds && /[ks]/i.test(letter) ? NOT_ASCII : 1;
  }

  /** The size of `\d`, `\pL` and their like, after the backslash; undefined: it is no class. */
  #escapedClass(): number | undefined {
    const letter = this.#text[this.#at] ?? "";
    if (this.#match(UNICODE_CLASS) !== undefined) {
      this.#wide = true;
      return UNICODE;
    }
    if (!/[dDsSwW]/.test(letter)) return undefined;
    this.#at++;
    const ranges = letter.toLowerCase() === "d" ? 1 : RANGES;
    return letter < "a" ? ranges + 1 + NOT_ASCII : ranges + (this.#folds ? NOT_ASCII : 0);
  }

  /** The code point of one letter, after the backslash. */
  #escapedLetter(): number {
    const hex = this.#match(HEX);
    if (hex !== undefined) {
      const code = parseInt(hex[1] ?? hex[2]!, 16);
      if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) throw new NoExpression();
      return code;
    }
    const octal = this.#match(OCTAL);
    if (octal !== undefined) return parseInt(octal[0], 8);
    const letter = this.#text[this.#at++] ?? "";
    const control = "abtnvfr".indexOf(letter);
    if (control >= 0 && letter !== "b" && letter !== "") return 7 + control;
    if (!/^[ -/:-@[-`{-~]$/.test(letter)) throw new NoExpression();
    return letter.charCodeAt(0);
  }

  /** The size of a class in brackets. */
  #class(): number {
    this.#at++;
    const negated = this.#take("^");
    let size = 0;
    // A bracket that comes first stands for itself.
    for (const first = this.#at; this.#at === first || this.#text[this.#at] !== "]";) {
      size += this.#classItem();
    }
    this.#at++;
    if (this.#folds) size += 2 * NOT_ASCII;
    return negated ? size + 1 + NOT_ASCII : size;
  }

  #classItem(): number {
    if (this.#text.startsWith("[:", this.#at)) {
      const posix = this.#match(POSIX);
      if (posix === undefined) throw new NoExpression();
      return posix[0][2] === "^" ? RANGES + 1 + NOT_ASCII : RANGES;
    }
    if (this.#take("\\")) {
      const known = this.#escapedClass();
      if (known !== undefined) return known;
      this.#at--;
    }
    const from = this.#classLetter();
    let to = from;
    if (this.#text[this.#at] === "-" && this.#text[this.#at + 1] !== "]") {
      this.#at++;
      if (this.#text.startsWith("[:", this.#at)) throw new NoExpression();
      to = this.#classLetter();
    }
    if (to < from) throw new NoExpression();
    if (to < 0x80) return 1;
    this.#wide = true;
    return this.#folds ? 3 * WIDE_RANGE : WIDE_RANGE;
  }

  #classLetter(): number {
    if (this.#take("\\")) return this.#escapedLetter();
    const code = this.#text.codePointAt(this.#at);
    if (code === undefined) throw new NoExpression();
    this.#at += code > 0xffff ? 2 : 1;
    return code;
  }

  #take(letter: string): boolean {
    if (this.#text[this.#at] !== letter) return false;
    this.#at++;
    return true;
  }

  #match(sticky: RegExp): RegExpExecArray | undefined {
    sticky.lastIndex = this.#at;
    const found = sticky.exec(this.#text) ?? undefined;
    this.#at += found?.[0].length ?? 0;
    return found;
  }

  /** Copies what comes before, then writes something else in place of a piece. */
  #replace(from: number, piece: string, bare: string, plain = piece): void {
    const before = this.#text.slice(this.#copied, from);
    this.#plain += before + plain;
    this.#bare += before + bare;
    this.#copied = from + piece.length;
  }
}

function atom(size: number): Atom {
  return { size, repeats: 1, repeatable: true };
}
