/**
 * A disk in memory that knows what a loss of power would leave of it: what was flushed stays; of
 * what was not, anything may. Written data may be there, be missing, end anywhere or be zeros or
 * rubbish; each change of a folder may have come through or not, whatever came after it.
 */
import { basename, dirname } from "node:path";
import type { FileLayer, NewFile } from "../../lib/snapshot/file_layer.ts";

interface FileNode {
  readonly kind: "file";
  content: Uint8Array;
  /** What a loss of power leaves for certain; undefined: nothing was ever flushed. */
  flushed: Uint8Array | undefined;
}

interface FolderNode {
  readonly kind: "folder";
  entries: Map<string, Node>;
  flushed: Map<string, Node>;
  /** Changes since the last flush, in order. */
  pending: ((entries: Map<string, Node>) => void)[];
}

type Node = FileNode | FolderNode;

/** Picks one of `count` possibilities, counted from 0. */
export type Choose = (count: number) => number;

/** Called before each operation (in the middle of each write); what it throws the operation throws. */
export type Fault = (operation: string, path: string) => void | Promise<void>;

/** Thrown by every operation from a crash on. */
export class Crash extends Error {
  override readonly name = "Crash";
}

/** A {@link FileLayer} in memory. The folder `/` is there. */
export class SimulatedDisk implements FileLayer {
  fault: Fault = () => {};
  /** A flush that does nothing, though it says so. */
  lie: "sync" | "syncFolder" | undefined;
  /** Names of the operations done. */
  readonly log: string[] = [];
  readonly #root: FolderNode;

  constructor(root: FolderNode = newFolder()) {
    this.#root = root;
  }

  async makeFolder(path: string): Promise<boolean> {
    await this.#begin("makeFolder", path);
    const parent = this.#folder(dirname(path));
    const there = parent.entries.get(basename(path));
    if (there?.kind === "folder") return false;
    if (there !== undefined) throw new Deno.errors.NotADirectory(path);
    const made = newFolder();
    change(parent, (entries) => entries.set(basename(path), made));
    return true;
  }

  async create(path: string): Promise<NewFile> {
    await this.#begin("create", path);
    const parent = this.#folder(dirname(path));
    if (parent.entries.has(basename(path))) throw new Deno.errors.AlreadyExists(path);
    const node: FileNode = { kind: "file", content: new Uint8Array(0), flushed: undefined };
    change(parent, (entries) => entries.set(basename(path), node));
    return this.#open(path, node);
  }

  async append(path: string): Promise<NewFile> {
    await this.#begin("append", path);
    return this.#open(path, this.#file(path));
  }

  async read(path: string, limit?: number): Promise<Uint8Array> {
    await this.#begin("read", path);
    return this.#file(path).content.slice(0, limit);
  }

  async size(path: string): Promise<number> {
    await this.#begin("size", path);
    return this.#file(path).content.length;
  }

  async rename(from: string, to: string): Promise<void> {
    await this.#begin("rename", to);
    const node = this.#file(from);
    change(this.#folder(dirname(from)), (entries) => {
      entries.delete(basename(from));
      entries.set(basename(to), node);
    });
  }

  async remove(path: string): Promise<void> {
    await this.#begin("remove", path);
    this.#file(path);
    change(this.#folder(dirname(path)), (entries) => entries.delete(basename(path)));
  }

  async list(folder: string): Promise<string[]> {
    await this.#begin("list", folder);
    return [...this.#folder(folder).entries].filter(([, n]) => n.kind === "file").map(([n]) => n);
  }

  async syncFolder(folder: string): Promise<void> {
    await this.#begin("syncFolder", folder);
    const node = this.#folder(folder);
    if (this.lie === "syncFolder") return;
    node.flushed = new Map(node.entries);
    node.pending = [];
  }

  /** Changes the bytes of a file, as a failing disk would. */
  corrupt(path: string, change: (bytes: Uint8Array) => Uint8Array): void {
    const node = this.#file(path);
    node.content = change(node.content.slice());
    node.flushed = node.content;
  }

  /** The names in a folder, sorted. */
  names(folder: string): string[] {
    return [...this.#folder(folder).entries.keys()].sort();
  }

  /** The same disk for the next process, after this one was killed: nothing is lost. */
  afterKill(): SimulatedDisk {
    return this.#next(this.#root);
  }

  /** The disk after a loss of power; `choose` settles whatever was not certain. */
  afterPowerLoss(choose: Choose): SimulatedDisk {
    return this.#next(survivingFolder(this.#root, choose));
  }

  #open(path: string, node: FileNode): NewFile {
    return {
      write: async (bytes) => {
        const half = bytes.length >> 1;
        node.content = new Uint8Array([...node.content, ...bytes.subarray(0, half)]);
        await this.#begin("write", path);
        node.content = new Uint8Array([...node.content, ...bytes.subarray(half)]);
      },
      sync: async () => {
        await this.#begin("sync", path);
        if (this.lie !== "sync") node.flushed = node.content;
      },
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  }

  #next(root: FolderNode): SimulatedDisk {
    const next = new SimulatedDisk(root);
    next.lie = this.lie;
    return next;
  }

  async #begin(operation: string, path: string): Promise<void> {
    await this.fault(operation, path);
    this.log.push(`${operation} ${basename(path)}`);
  }

  #node(path: string): Node | undefined {
    let node: Node | undefined = this.#root;
    for (const name of path.split("/").filter((part) => part !== "")) {
      node = node?.kind === "folder" ? node.entries.get(name) : undefined;
    }
    return node;
  }

  #folder(path: string): FolderNode {
    const node = this.#node(path);
    if (node?.kind !== "folder") throw new Deno.errors.NotFound(`no such folder: ${path}`);
    return node;
  }

  #file(path: string): FileNode {
    const node = this.#node(path);
    if (node?.kind !== "file") throw new Deno.errors.NotFound(`no such file: ${path}`);
    return node;
  }
}

function newFolder(): FolderNode {
  return { kind: "folder", entries: new Map(), flushed: new Map(), pending: [] };
}

function change(folder: FolderNode, apply: (entries: Map<string, Node>) => void): void {
  apply(folder.entries);
  folder.pending.push(apply);
}

function survivingFolder(folder: FolderNode, choose: Choose): FolderNode {
  const entries = new Map(folder.flushed);
  for (const apply of folder.pending) if (choose(2) === 1) apply(entries);
  for (const [name, node] of entries) {
    entries.set(
      name,
      node.kind === "folder" ? survivingFolder(node, choose) : survivingFile(node, choose),
    );
  }
  return { kind: "folder", entries, flushed: new Map(entries), pending: [] };
}

function survivingFile({ content, flushed }: FileNode, choose: Choose): FileNode {
  const certain = flushed ?? new Uint8Array(0);
  const written = content.length;
  const variants = [
    () => certain,
    () => content,
    () => content.slice(0, Math.max(certain.length, written - 1)),
    () => content.slice(0, Math.max(certain.length, written >> 1)),
    () => content.map((byte, at) => at < certain.length ? byte : 0),
    () => content.map((byte, at) => at < (written * 3) / 4 || at < certain.length ? byte : ~byte),
  ];
  const bytes = flushed === content ? content : variants[choose(variants.length)]!();
  return { kind: "file", content: bytes, flushed: bytes };
}

/** Runs `body` once for every sequence of choices that it can be given. */
export async function forEveryChoice(body: (choose: Choose) => Promise<void>): Promise<number> {
  const path: { chosen: number; of: number }[] = [];
  for (let runs = 1;; runs++) {
    let depth = 0;
    await body((of) => {
      if (depth === path.length) path.push({ chosen: 0, of });
      return path[depth++]!.chosen;
    });
    path.length = depth;
    while (path.length > 0 && path.at(-1)!.chosen === path.at(-1)!.of - 1) path.pop();
    if (path.length === 0) return runs;
    path.at(-1)!.chosen++;
  }
}

/** A fault that crashes the process at the `at`th operation (from 1) and every later one. */
export function crashAt(at: number): Fault {
  let count = 0;
  return () => {
    if (++count >= at) throw new Crash(`crashed at operation ${at}`);
  };
}
