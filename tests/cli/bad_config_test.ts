/** Configurations that cannot be used: what the person who starts Pinnace is told. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { folder, pinnace } from "./command.ts";

/** Broken files, and what is said of each: where, and what is wrong or would be right. */
const BROKEN: Readonly<Record<string, readonly [text: string, ...said: string[]]>> = {
  "list.yaml": ["- a\n- b\n", ": error: the file must be a mapping, not a list"],
  "text.yaml": ["orders\n", ': error: the file must be a mapping, not "orders"'],
  "empty.yaml": ["", ": error: the file is empty; to have no services write `services: []`"],
  "twice.yaml": ["services: []\nservices: []\n", ":2:1: error: the key is there twice"],
  "deep.yaml": [
    "services:\n  - name: a\n    name: b\n    ports: [80]\n",
    ":3:5: error: the key is there twice",
  ],
  "cut.json": ['{ "services": [', ":1:"],
  "manifest.yaml": [
    "apiVersion: networking.istio.io/v1\nkind: ServiceEntry\nmetadata: { name: x }\n",
    ":2:1: error: an Istio manifest (ServiceEntry) is not supported yet",
  ],
  "later.yaml": [
    "sinks: []\npush: { waves: { hold: 30s } }\n",
    ":2:9: error: `waves` is not supported yet",
  ],
  "open.yaml": [
    'listen: ["127.0.0.1:0", "0.0.0.0:15010"]\n',
    ":1:25: error: 0.0.0.0:15010 is not loopback, and plaintext there can be read",
    'give `tls`, or, where plaintext is meant, write { address: "0.0.0.0:15010", insecure: true }',
  ],
  "unproved.yaml": [
    'receive:\n  address: "0.0.0.0:9901"\n  tls: { cert: a.crt, key: a.key }\n',
    ":3:3: error: `tls` has no `ca` and there are no `tokens`, so no source can prove who it is",
  ],
  "proxy.yaml": [
    'sinks:\n  - { address: "mesh:1", proxy: "https://u:hunter2@proxy:1" }\n',
    ":2:26: error: `proxy` is no http:// proxy",
  ],
  "rule.yaml": [
    "peers:\n  - { match: {}, labels: { v: 1.10 } }\n",
    ":2:28: error: `v` must be text, not the number 1.1",
  ],
  "server.yaml": [
    "include: ['xds://tier']\n",
    ":1:11: error: tier is not an address",
  ],
  "split.yaml": [
    "services:\n  - name: a\n    ports: [80]\n    split: { v1: 80 }\n    subsets: {}\n",
    ":4:14: error: default/a: there is no endpoint, so none is in the subset v1",
  ],
  "wrong.yaml": [
    "services:\n  - name: a\n    prots: [80]\n",
    ":3:5: error: ",
    "ports",
  ],
};

Deno.test("bad configuration: each broken file is named with line, column and what is wrong", async () => {
  const texts = Object.entries(BROKEN).map(([name, [text]]) => [name, text]);
  await using dir = await folder(Object.fromEntries(texts));
  await Deno.truncate(await made(`${dir.path}/huge.yaml`), 50 * 1024 * 1024);
  const { code, stdout, stderr } = await pinnace("--config", dir.path, "--store", `${dir.path}/s`);
  assertEquals([code, stdout], [1, ""]);
  for (const [name, [, ...said]] of Object.entries(BROKEN)) {
    for (const text of said) {
      const lines = stderr.split("\n").filter((line) => line.includes(`${dir.path}/${name}:`));
      assert(lines.some((line) => line.includes(text)), `${name}: ${text} is not in\n${stderr}`);
    }
  }
  assertMatch(stderr, /huge\.yaml: error: the file is 50 MiB large, more than 32 MiB/);
  assert(!stderr.includes("hunter2"), "a password is repeated");
  assertStringIncludes(stderr, "nothing of it can be used");
  assertMatch(stderr.trimEnd(), /there is nothing to serve: see the findings above$/);
});

Deno.test("bad configuration: an empty folder is told what belongs there", async () => {
  await using dir = await folder({});
  const { code, stderr } = await pinnace("--config", dir.path);
  assertEquals(code, 1);
  assertMatch(stderr, /the folder \S+ holds no configuration; put a \*\.yaml, .* file there/);
});

async function made(path: string): Promise<string> {
  await Deno.writeTextFile(path, "");
  return path;
}
