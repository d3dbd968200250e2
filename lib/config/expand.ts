/**
 * `${NAME}` in a text of the configuration stands for an environment variable.
 *
 * @module
 */

/** Where variables are looked up; undefined: not set. */
export type Environment = (name: string) => string | undefined;

/** What became of a text: its expansion, or what is wrong with it. */
export type Expansion =
  | { readonly ok: true; readonly text: string }
  | {
    readonly ok: false;
    readonly message: string;
    readonly hint: string;
    /** The variable that is not set; absent where a `$` begins none, which the message then repeats. */
    readonly unset?: string;
  };

/**
 * What is wrong with a text that may hold a secret, called `what` in a sentence: of such a text nothing
 * is repeated but the name of a variable.
 */
export function withoutSecret(
  failed: Extract<Expansion, { ok: false }>,
  what: string,
): Extract<Expansion, { ok: false }> {
  if (failed.unset !== undefined) return failed;
  return { ...failed, message: `${what} holds a $ that begins no variable` };
}

/** The environment of this process. A variable that we are not permitted to read counts as not set. */
export const processEnvironment: Environment = (name) => {
  try {
    return Deno.env.get(name);
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) return undefined;
    throw error;
  }
};

/**
 * Replaces each `${NAME}` by the variable's value and each `$$` by `$`. Nothing inside a value is
 * expanded again. An unset variable and any other `$` are errors, so that no secret turns out empty.
 */
export function expand(text: string, environment: Environment = processEnvironment): Expansion {
  let problem: Expansion | undefined;
  const expanded = text.replace(/\$(?:\$|\{([^}]*)\}|)/g, (match, name: string | undefined) => {
    if (match === "$$") return "$";
    if (name === undefined || !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      problem ??= {
        ok: false,
        message: `${match} is not a variable`,
        hint: "write ${NAME} for an environment variable and $$ for a dollar sign",
      };
      return "";
    }
    const value = environment(name);
    if (value === undefined) {
      problem ??= {
        ok: false,
        message: `the environment variable ${name} is not set`,
        hint: `set ${name}, or write the text itself`,
        unset: name,
      };
      return "";
    }
    return value;
  });
  return problem ?? { ok: true, text: expanded };
}
