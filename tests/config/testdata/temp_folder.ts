/**
 * A folder that a test fills with files and that goes when the test ends.
 *
 * @module
 */
import { dirname, join } from "node:path";

/** A temporary folder. */
export class TempFolder implements Disposable {
  readonly path = Deno.realPathSync(Deno.makeTempDirSync());

  /** Writes a file, with the folders above it. Gives its path. */
  write(name: string, content: string | Uint8Array): string {
    const path = this.at(name);
    Deno.mkdirSync(dirname(path), { recursive: true });
    if (typeof content === "string") Deno.writeTextFileSync(path, content);
    else Deno.writeFileSync(path, content);
    return path;
  }

  /** The path of a name in the folder. */
  at(name: string): string {
    return join(this.path, name);
  }

  /** Takes away a file, or a folder with what it holds. */
  remove(name: string): void {
    Deno.removeSync(this.at(name), { recursive: true });
  }

  /** Takes away a file that may not be there. */
  removeIfThere(name: string): void {
    try {
      Deno.removeSync(this.at(name));
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.path, { recursive: true });
  }
}
