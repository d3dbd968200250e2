import { assertEquals, assertMatch } from "@std/assert";
import { Authority, TempFolder } from "../transport/certificates.ts";
import { pinnace } from "./command.ts";

const SERVICE = `services:
  - name: orders
    ports: [443/GRPC]
    endpoints: [192.0.2.1]
`;

/** The lines of `pinnace validate`, without the folder; they must end with the number of warnings. */
async function validate(files: TempFolder, text: string): Promise<string[]> {
  const config = await files.write("p.yaml", text + SERVICE);
  const { code, stdout, stderr } = await pinnace("validate", "--config", config);
  assertEquals(code, 0, stdout);
  const lines = stdout.replaceAll(`${files.path}/`, "").split("\n").filter((line) => line !== "");
  const count = lines.length === 1 ? "1 warning" : `${lines.length} warnings`;
  assertMatch(stderr, new RegExp(lines.length === 0 ? "1 file: fine" : `0 errors, ${count}\n`));
  return lines;
}

Deno.test("validate: files that are named and cannot be used are a warning where they are named", async () => {
  await using authority = await Authority.create("test");
  await using files = await TempFolder.create();
  const [pair, other] = [
    await authority.issue({ names: "DNS:hub.example" }),
    await authority.issue({ names: "DNS:other.example" }),
  ];
  await files.writeTls({ ...pair, ca: authority.cert });
  await files.write("other.key", other.key);
  await files.write("token", "t0ken");
  await files.write("empty", " ");
  await files.write("same", "t0ken");
  const lines = await validate(
    files,
    `listen:
  - { address: "127.0.0.1:1", tls: { cert: tls.crt, key: other.key } }
  - address: "127.0.0.1:2"
    tls: nowhere
sinks:
  - { address: "127.0.0.1:3", tls: { cert: tls.crt, key: other.key } }
  - { address: "127.0.0.1:4", tls: { ca: token }, tokenFile: empty }
include:
  - { xds: "127.0.0.1:5", tokenFile: gone }
receive:
  address: "127.0.0.1:6"
  tls: { cert: tls.crt, key: none.key }
  tokens:
    edge-a: token
    edge-b: same
    edge-c: lost
`,
  );
  const place = (line: string) => line.split(" warning: ")[0];
  assertEquals(lines.map(place), [
    "p.yaml:2:31:",
    "p.yaml:4:5:",
    "p.yaml:6:31:",
    "p.yaml:7:31:",
    "p.yaml:7:51:",
    "p.yaml:9:27:",
    "p.yaml:12:3:",
    "p.yaml:15:5:",
    "p.yaml:16:5:",
  ]);
  for (const line of lines) assertMatch(line, / \[config\/files\]$/);
  const said = [
    /the key other\.key is not that of the certificate tls\.crt; /,
    /nowhere does not exist; /,
    /the key other\.key is not that of the certificate tls\.crt; /,
    /token holds no certificate; /,
    /the token file empty is empty/,
    /the token file gone does not exist/,
    /none\.key does not exist; /,
    /the sources edge-a and edge-b have the same token/,
    /the token file lost does not exist/,
  ];
  said.forEach((pattern, at) => assertMatch(lines[at]!, pattern));
});

Deno.test("validate: files that are as they should be are fine", async () => {
  await using authority = await Authority.create("test");
  await using files = await TempFolder.create();
  const pair = await authority.issue({ names: "DNS:hub.example" });
  await files.writeTls({ ...pair, ca: authority.cert });
  await files.write("token", "t0ken");
  const lines = await validate(
    files,
    `listen: [{ address: "127.0.0.1:1", tls: ".", allow: [hub.example] }]
sinks: [{ address: "127.0.0.1:3", tls: ".", tokenFile: token }]
receive: { address: "127.0.0.1:6", tls: ".", tokens: { edge: token } }
`,
  );
  assertEquals(lines, []);
});
