/** The configurations of docs/receiver.md as they stand there: mutual TLS from an edge to a receiver to a whole istiod. */
import { assert, assertEquals } from "@std/assert";
import { dump, load } from "js-yaml";
import { Authority } from "../transport/certificates.ts";
import { interopTest } from "./lib/binaries.ts";
import { blocks, section } from "./lib/guide.ts";
import { Istiod } from "./lib/istiod.ts";
import { Pinnace, type PinnaceConfig } from "./lib/pinnace.ts";
import { freePorts } from "./lib/ports.ts";
import { simple } from "./lib/services.ts";

/** What the guide writes of a mesh's settings. */
interface MeshConfig {
  readonly meshConfig: {
    readonly configSources: readonly [
      {
        readonly address: string;
        readonly tlsSettings: { readonly mode: string; readonly caCertificates: string };
      },
      { readonly address: string },
    ];
  };
}

/** The configurations of the section "Set it up". Every host is this machine, every port a free one; nothing else differs. */
async function setUp() {
  const guide = await section("receiver.md", "Set it up");
  const [received, served] = freePorts(2);
  const text = guide.replaceAll(":9901", `:${received}`).replaceAll(":15012", `:${served}`)
    .replaceAll(/receiver\.(?:example\.org|istio-system)/g, "localhost")
    .replaceAll("0.0.0.0:", "127.0.0.1:");
  const [receiver, edge, mesh] = blocks(text, "yaml").map((body) => load(body));
  return {
    receiver: receiver as PinnaceConfig,
    edge: edge as PinnaceConfig,
    mesh: mesh as MeshConfig,
  };
}

interopTest(
  "guide: an edge, a receiver and istiod, configured as the guide says, over TLS",
  ["istiod"],
  async () => {
    const { receiver: receives, edge: dials, mesh } = await setUp();
    await using authority = await Authority.create("edges");
    const issue = async (pinnace: Pinnace, place: string, names: string) => {
      const { cert, key } = await authority.issue({ names });
      const files = { "tls.crt": cert, "tls.key": key, "ca.crt": authority.cert };
      await Deno.mkdir(`${pinnace.folder}/${place}`, { recursive: true });
      for (const [name, pem] of Object.entries(files)) {
        await Deno.writeTextFile(`${pinnace.folder}/${place}/${name}`, pem);
      }
    };
    await using receiver = await Pinnace.prepare(receives);
    await issue(receiver, "tls/receiver", "DNS:localhost");
    await receiver.run();
    await using edge = await Pinnace.prepare(dials);
    await issue(edge, "tls/edge", "URI:spiffe://example.org/edge/fra");
    await Deno.mkdir(`${edge.folder}/services`);
    const has = async (...namespaces: string[]) => {
      const services = namespaces.map((namespace) => ({ ...simple(namespace), namespace }));
      await Deno.writeTextFile(`${edge.folder}/services/all.yaml`, dump({ services }));
    };
    await has("fra", "shop-1");
    await edge.run();

    const [source, cluster] = mesh.meshConfig.configSources;
    assertEquals([cluster.address, source.tlsSettings.mode], ["k8s://", "SIMPLE"]);
    const tlsSettings = { ...source.tlsSettings, caCertificates: authority.cert };
    await receiver.process.expect("the edge gave what it has", async () => {
      const { sources } = await receiver.status() as { sources: { resources: object }[] };
      return sources.some(({ resources }) => Object.keys(resources).length > 0);
    });
    await using istiod = await Istiod.start(source.address.slice("xds://".length), { tlsSettings });
    const holds = (...names: string[]) =>
      istiod.process.expect(`it holds exactly ${names.join(" ")}`, async () => {
        assertEquals([...(await istiod.objects()).keys()].sort(), names);
        return true;
      });
    await holds("fra/fra", "shop-1/shop-1");

    // Outside its namespaces nothing of a source is taken, and the edge is told why.
    await has("fra", "shop-1", "muc");
    const nack = await edge.process.expectObject<{ reason: string }>(
      "it is told of the refusal",
      ({ msg, message }) => /refused by the peer/.test(String(msg ?? message)),
    );
    assert(/may not fill the namespace muc/.test(nack.reason), nack.reason);
    await has("fra", "shop-2");
    await holds("fra/fra", "shop-2/shop-2");
  },
);
