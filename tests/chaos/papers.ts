/**
 * What everybody shows to prove who they are: certificates and tokens, in a folder of their own.
 *
 * @module
 */
import { Authority, TempFolder } from "../transport/certificates.ts";

/** Who has a certificate of our authority, and its names in openssl's form. */
const KNOWN = {
  receiver: "IP:127.0.0.1",
  "edge-1": "URI:spiffe://example.org/edge-1",
  "edge-2": "URI:spiffe://example.org/edge-2",
  visitor: "URI:spiffe://example.org/visitor",
  "hostile-1": "URI:spiffe://example.org/hostile-1",
  "hostile-2": "URI:spiffe://example.org/hostile-2",
  "hostile-3": "URI:spiffe://example.org/hostile-3",
  "hostile-4": "DNS:hostile-4.example.org",
} as const;

/** Certificates and tokens. Disposing it removes them. */
export class Papers implements AsyncDisposable {
  readonly #folder: TempFolder;

  private constructor(folder: TempFolder) {
    this.#folder = folder;
  }

  /** Issues them all. */
  static async create(): Promise<Papers> {
    const papers = new Papers(await TempFolder.create());
    await using ours = await Authority.create("ours");
    await using other = await Authority.create("other");
    for (const [name, names] of Object.entries(KNOWN)) {
      await papers.#write(name, { ...await ours.issue({ names }), ca: ours.cert });
    }
    // It trusts us, and would be an edge, if its authority counted.
    const strange = await other.issue({ names: KNOWN["edge-1"] });
    await papers.#write("strange", { ...strange, ca: ours.cert });
    for (const edge of [1, 2] as const) {
      await Deno.writeTextFile(papers.tokenOf(edge), crypto.randomUUID());
    }
    return papers;
  }

  /** Folder with `tls.crt`, `tls.key` and `ca.crt`. */
  folderOf(name: keyof typeof KNOWN | "strange"): string {
    return this.#folder.at(name);
  }

  /** File with the token of an edge. */
  tokenOf(edge: 1 | 2): string {
    return this.#folder.at(`edge-${edge}.token`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#folder[Symbol.asyncDispose]();
  }

  async #write(name: string, { cert, key, ca }: { cert: string; key: string; ca: string }) {
    const folder = this.#folder.at(name);
    await Deno.mkdir(folder);
    await Deno.writeTextFile(`${folder}/tls.crt`, cert);
    await Deno.writeTextFile(`${folder}/tls.key`, key);
    await Deno.writeTextFile(`${folder}/ca.crt`, ca);
  }
}
