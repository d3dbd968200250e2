/**
 * Certificates for tests, made by openssl while the test runs.
 *
 * @module
 */
import { join } from "node:path";

/** A certificate and its key, PEM. */
export interface Pair {
  readonly cert: string;
  readonly key: string;
}

/** What a certificate says. */
export interface CertificateOptions {
  /** In openssl's form: `DNS:a.example, URI:spiffe://example.org/a, IP:127.0.0.1`. */
  readonly names?: string;
  /** In openssl's form: `20200101000000Z`. Default: an hour ago. */
  readonly from?: string;
  /** Default: in 30 days. */
  readonly to?: string;
  /** Bits of an RSA key. Default: a key of EC P-256. */
  readonly rsa?: number;
  /** Further lines of extensions in openssl's form. */
  readonly extensions?: readonly string[];
}

/** A folder of its own for a test, removed in the end. */
export class TempFolder implements AsyncDisposable {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  static async create(): Promise<TempFolder> {
    return new TempFolder(await Deno.makeTempDir({ prefix: "pinnace-tls-" }));
  }

  /** The absolute path of a file in it. */
  at(name: string): string {
    return join(this.path, name);
  }

  /** Writes a file as Kubernetes does: under another name, then renamed. */
  async write(name: string, text: string): Promise<string> {
    await Deno.writeTextFile(this.at(`.${name}.new`), text);
    await Deno.rename(this.at(`.${name}.new`), this.at(name));
    return this.at(name);
  }

  /** Writes what is given as `tls.crt`, `tls.key` and `ca.crt`. */
  async writeTls({ cert, key, ca }: Partial<Pair> & { readonly ca?: string }): Promise<this> {
    if (cert !== undefined) await this.write("tls.crt", cert);
    if (key !== undefined) await this.write("tls.key", key);
    if (ca !== undefined) await this.write("ca.crt", ca);
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.path, { recursive: true });
  }
}

/** A certificate authority. */
export class Authority implements AsyncDisposable {
  readonly cert: string;
  readonly #folder: TempFolder;
  #issued = 0;

  private constructor(folder: TempFolder, cert: string) {
    this.#folder = folder;
    this.cert = cert;
  }

  static async create(name: string): Promise<Authority> {
    const folder = await TempFolder.create();
    const [key, cert] = [folder.at("ca.key"), folder.at("ca.crt")];
    await openssl("req", "-x509", ...NEW_KEY, "-keyout", key, "-out", cert, "-subj", `/CN=${name}`);
    return await Authority.#prepared(folder, await Deno.readTextFile(cert));
  }

  static async #prepared(folder: TempFolder, cert: string): Promise<Authority> {
    await folder.write("index.txt", "");
    await folder.write("serial", "1000");
    await folder.write("ca.cnf", caConfig(folder.path));
    return new Authority(folder, cert);
  }

  /** An authority below this one; dates as in {@link CertificateOptions}. */
  async subordinate(name: string, from?: string, to?: string): Promise<Authority> {
    const folder = await TempFolder.create();
    const at = {
      key: folder.at("ca.key"),
      request: folder.at("ca.csr"),
      cert: folder.at("ca.crt"),
    };
    const subject = ["-subj", `/CN=${name}`];
    await openssl("req", "-new", ...NEW_KEY, "-keyout", at.key, "-out", at.request, ...subject);
    const extensions = folder.at("ca.ext");
    await Deno.writeTextFile(extensions, "[v]\nbasicConstraints=critical,CA:TRUE\n");
    const config = ["-config", this.#folder.at("ca.cnf"), "-extfile", extensions];
    const dates = ["-startdate", from ?? stamp(-3_600_000), "-enddate", to ?? stamp(30 * DAY)];
    const files = ["-in", at.request, "-out", at.cert];
    await openssl("ca", "-batch", "-notext", ...config, "-extensions", "v", ...dates, ...files);
    return await Authority.#prepared(folder, await Deno.readTextFile(at.cert));
  }

  /** Issues a certificate. */
  async issue(options: CertificateOptions = {}): Promise<Pair> {
    const { names, from, to, rsa, extensions = [] } = options;
    const newKey = rsa === undefined ? NEW_KEY : ["-newkey", `rsa:${rsa}`, "-nodes"];
    const file = (kind: string) => this.#folder.at(`${this.#issued}.${kind}`);
    this.#issued++;
    const [key, request, cert] = [file("key"), file("csr"), file("crt")];
    await openssl("req", "-new", ...newKey, "-keyout", key, "-out", request, "-subj", "/CN=test");
    const lines = [...(names === undefined ? [] : [`subjectAltName=${names}`]), ...extensions];
    await Deno.writeTextFile(file("ext"), `[v]\nbasicConstraints=CA:FALSE\n${lines.join("\n")}\n`);
    const config = [
      "-config",
      this.#folder.at("ca.cnf"),
      "-extfile",
      file("ext"),
      "-extensions",
      "v",
    ];
    const dates = ["-startdate", from ?? stamp(-3_600_000), "-enddate", to ?? stamp(30 * DAY)];
    await openssl("ca", "-batch", "-notext", ...config, ...dates, "-in", request, "-out", cert);
    return { cert: await Deno.readTextFile(cert), key: await Deno.readTextFile(key) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#folder[Symbol.asyncDispose]();
  }
}

/** A date that long past. */
export const LONG_AGO = "20200101000000Z";

/** A date in openssl's form, so many milliseconds from now. */
export function stamp(fromNow: number): string {
  return new Date(Date.now() + fromNow).toISOString().replace(/[-:T]|\.\d+/g, "");
}

/** Milliseconds. */
export const DAY = 24 * 3_600_000;

const NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

function caConfig(folder: string): string {
  return `[ca]
default_ca=authority
[authority]
database=${folder}/index.txt
serial=${folder}/serial
new_certs_dir=${folder}
certificate=${folder}/ca.crt
private_key=${folder}/ca.key
default_md=sha256
policy=policy
unique_subject=no
[policy]
commonName=supplied
`;
}

async function openssl(...args: string[]): Promise<void> {
  const command = new Deno.Command("openssl", { args, stdout: "null", stderr: "piped" });
  const { success, stderr } = await command.output();
  if (!success) throw new Error(`openssl ${args[0]}: ${new TextDecoder().decode(stderr)}`);
}
