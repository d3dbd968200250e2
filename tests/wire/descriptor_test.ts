import { assertEquals, assertThrows } from "@std/assert";
import { buildDescriptor, DESCRIPTOR_FILE } from "../../proto/build.ts";

const folder = new URL("../../proto", import.meta.url).pathname;

Deno.test("descriptor: the embedded one is that of the .proto files (else run deno task proto)", () => {
  assertEquals(Deno.readTextFileSync(`${folder}/${DESCRIPTOR_FILE}`), buildDescriptor(folder));
});

Deno.test("descriptor: a .proto file that is wrong is named", async () => {
  await using dir = await temporaryFolder();
  Deno.writeTextFileSync(`${dir.path}/a.proto`, 'syntax = "proto3"; message A { string a = ; }');
  assertThrows(() => buildDescriptor(dir.path), Error, "a.proto");
});

Deno.test("descriptor: an import that is not there is named with the file that wants it", async () => {
  await using dir = await temporaryFolder();
  Deno.writeTextFileSync(`${dir.path}/a.proto`, 'syntax = "proto3"; import "b/c.proto";');
  assertThrows(() => buildDescriptor(dir.path), Error, "a.proto imports b/c.proto");
});

Deno.test("descriptor: a change of a .proto file changes it", async () => {
  await using dir = await temporaryFolder();
  const write = (number: number) =>
    Deno.writeTextFileSync(
      `${dir.path}/a.proto`,
      `syntax = "proto3"; package a; message A { string it_is = ${number}; }`,
    );
  write(1);
  const before = buildDescriptor(dir.path);
  write(2);
  assertEquals(buildDescriptor(dir.path), before.replace('"id":1', '"id":2'));
});

async function temporaryFolder(): Promise<AsyncDisposable & { path: string }> {
  const path = await Deno.makeTempDir();
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}
