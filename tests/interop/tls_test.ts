/** Who may connect to us: mutual TLS against grpc-go, whose handshakes and reconnects nobody here wrote. */
import { assert, assertEquals } from "@std/assert";
import { Authority, DAY, LONG_AGO, stamp, TempFolder } from "../transport/certificates.ts";
import { interopTest } from "./lib/binaries.ts";
import { Pinnace } from "./lib/pinnace.ts";
import { freePorts } from "./lib/ports.ts";
import { simple } from "./lib/services.ts";
import { Sink } from "./lib/sink.ts";

interopTest(
  "listen: mutual TLS lets in who is allowed, by grpc-go; certificates and authorities are replaced while it runs",
  ["mcp-sink-client"],
  async () => {
    await using ours = await TempFolder.create();
    await using theirs = await TempFolder.create();
    await using authority = await Authority.create("mesh");
    await using other = await Authority.create("other");
    await ours.writeTls({
      ...await authority.issue({ names: "DNS:localhost" }),
      ca: authority.cert,
    });
    /** Files of a client, by a name of their own. */
    const client = async (name: string, issued: { cert: string; key: string }, ca = authority) => ({
      ca: await theirs.write(`${name}.ca`, ca.cert),
      cert: await theirs.write(`${name}.crt`, issued.cert),
      key: await theirs.write(`${name}.key`, issued.key),
    });
    const istiod = "URI:spiffe://example.org/ns/istio-system/sa/istiod";
    const [port] = freePorts(1);
    const config = (...names: string[]) => ({
      services: names.map((name) => simple(name)),
      listen: [{
        address: `localhost:${port}`,
        tls: ours.path,
        allow: ["spiffe://example.org/ns/istio-system/*", "*.mesh.example"],
      }],
    });
    await using pinnace = await Pinnace.start(config("billing"));
    const dial = (trust: { ca: string; cert?: string; key?: string }) =>
      Sink.dialling(`localhost:${port}`, { trust });

    const good = await client("good", await authority.issue({ names: istiod }));
    await using allowed = dial(good);
    await using byName = dial(
      await client("name", await authority.issue({ names: "DNS:a.mesh.example" })),
    );
    await allowed.holds(["edge/billing"]);
    await byName.holds(["edge/billing"]);

    const wrong = {
      "another name": await client("named", await authority.issue({ names: "DNS:mesh.example" })),
      "another authority": await client("signed", await other.issue({ names: istiod })),
      "expired": await client(
        "old",
        await authority.issue({ names: istiod, from: LONG_AGO, to: stamp(-DAY) }),
      ),
      "not valid yet": await client(
        "early",
        await authority.issue({ names: istiod, from: stamp(DAY) }),
      ),
      "no certificate": { ca: good.ca },
      "no trust in us": { ...good, ca: await theirs.write("foreign.ca", other.cert) },
    };
    for (const [what, trust] of Object.entries(wrong)) {
      await using refused = dial(trust);
      await refused.process.expect(
        `${what}: refused`,
        () => refused.process.objects.some(({ event }) => event === "stream-refused"),
      );
      assertEquals(refused.changes(), [], what);
    }
    const refusals = await pinnace.process.expect("each refusal is said", () => {
      const lines = pinnace.process.objects.filter(({ msg }) => msg === "connection refused");
      return lines.length >= 2 && lines;
    });
    assert(
      refusals.some((line) => JSON.stringify(line).includes("mesh.example")),
      "who was not allowed is named",
    );

    // Both certificates and the authority change; streams that live go on.
    await ours.writeTls({ ...await other.issue({ names: "DNS:localhost" }), ca: other.cert });
    await pinnace.process.expectObject(
      "new files are in use",
      ({ msg }) => msg === "new TLS files are in use",
    );
    await pinnace.write(config("billing", "ledger"));
    await allowed.holds(["edge/billing", "edge/ledger"]);
    assertEquals(
      allowed.process.objects.filter(({ event }) => event === "stream-open").length,
      1,
      "the stream is the same",
    );
    await using renewed = dial(await client("new", await other.issue({ names: istiod }), other));
    await renewed.holds(["edge/billing", "edge/ledger"]);
    await using old = dial(good);
    await old.process.expect(
      "the old authority counts no more",
      () => old.process.objects.some(({ event }) => event === "stream-refused"),
    );
  },
);
