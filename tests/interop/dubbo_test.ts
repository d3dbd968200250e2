/** Dubbo 3.2.8 without a proxy: applications whose registry we are (`xds://`). */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { Authority, TempFolder } from "../transport/certificates.ts";
import { interopTest } from "./lib/binaries.ts";
import {
  Dubbo,
  DubboConsumer,
  METADATA_PORT,
  registryOf,
  startConsumer,
  startConsumerPatiently,
  startProvider,
} from "./lib/dubbo.ts";
import { DubboSite, PROVIDER, TRI_PORT } from "./lib/dubbo_site.ts";
import { OwnAddresses } from "./lib/own_addresses.ts";
import { Pinnace } from "./lib/pinnace.ts";
import { freePort } from "./lib/ports.ts";
import { simple } from "./lib/services.ts";

const PEERS = ["dubbo"];

/** Pause between calls of a consumer that calls on and on. Milliseconds. */
const PACE = 5;

/** Calls of which none failed that prove something. */
const ENOUGH = 100;

/** How many starts in a row must come up. */
const STARTS = 10;

function consumerOf(site: DubboSite): Promise<DubboConsumer> {
  return startConsumerPatiently({
    providedBy: PROVIDER,
    registry: registryOf(site.pinnace.address),
  });
}

/** Ends the calls that were under way; none of them may have failed. */
async function noneFailed(consumer: DubboConsumer): Promise<void> {
  await consumer.call(4 * ENOUGH); // while those go on
  const { answered, failed } = await consumer.stop();
  assertEquals(failed, {});
  const count = Object.values(answered).reduce((sum, one) => sum + one, 0);
  assert(count >= ENOUGH, `${count} calls prove little`);
}

interopTest(
  "dubbo: calls reach both providers, follow each endpoint that goes, drains and comes, and none fails",
  PEERS,
  async () => {
    await using site = await DubboSite.start();
    const [a, b] = site.addresses;
    await using consumer = await consumerOf(site);
    await consumer.reaches(a, b);

    await consumer.start(PACE);
    await site.endpoints(a);
    await consumer.reaches(a);
    await site.endpoints(a, b);
    await consumer.reaches(a, b);
    await site.endpoints(a, { address: b, drain: true });
    await consumer.reaches(a);
    await noneFailed(consumer);
    await consumer.reaches(a);
    await site.endpoints(a, b);
    await consumer.reaches(a, b);
  },
);

interopTest(
  "dubbo: other services that come and go, on new ports too, leave an application listening",
  PEERS,
  async () => {
    await using site = await DubboSite.start();
    const [a, b] = site.addresses;
    await using consumer = await consumerOf(site);
    await consumer.reaches(a, b);
    await site.beside(simple("web"), { ...simple("other"), ports: ["50099/GRPC"] });
    await site.endpoints(b);
    await consumer.reaches(b);
    await site.beside();
    await site.endpoints(a);
    await consumer.reaches(a);
  },
);

interopTest(
  "dubbo: calls go on while we are killed and come back, and changes made meanwhile are followed",
  PEERS,
  async () => {
    await using site = await DubboSite.start();
    const [a, b] = site.addresses;
    await using consumer = await consumerOf(site);
    await consumer.reaches(a, b);
    await consumer.start(PACE);
    await site.pinnace.kill();
    await site.endpoints(a);
    await site.pinnace.run();
    await consumer.reaches(a);
    await noneFailed(consumer);
  },
);

interopTest(
  "dubbo: a service that goes is called no more, and again when it returns",
  PEERS,
  async () => {
    await using site = await DubboSite.start();
    const [a, b] = site.addresses;
    await using consumer = await consumerOf(site);
    await consumer.reaches(a, b);
    await site.without();
    await consumer.reaches();
    assertMatch(Object.keys((await consumer.call(1)).failed)[0]!, /No provider available/);
    await site.endpoints(a, b);
    await consumer.reaches(a, b);
  },
);

interopTest(`dubbo: ${STARTS} starts in a row come up`, PEERS, async () => {
  await using site = await DubboSite.start();
  const [a, b] = site.addresses;
  for (let start = 1; start <= STARTS; start++) {
    // No second try here: this is what is to be shown.
    await using consumer = await startConsumer({
      providedBy: PROVIDER,
      registry: registryOf(site.pinnace.address),
    });
    await consumer.reaches(a, b);
  }
});

interopTest("dubbo: an application comes up before there is anything to call", PEERS, async () => {
  await using site = await DubboSite.start();
  const [a] = site.addresses;
  await site.without();
  await using consumer = await consumerOf(site);
  await consumer.reaches();
  await site.endpoints(a);
  await consumer.reaches(a);
});

interopTest(
  "dubbo: of two providers at one address, which share a metadata port, one is called, and that is said",
  PEERS,
  async () => {
    await using site = await DubboSite.start();
    const [a, b] = site.addresses;
    await using neighbour = await startProvider({
      ...{ name: "neighbour", application: PROVIDER, host: a, port: TRI_PORT + 1 },
      registry: registryOf(site.pinnace.address),
    });
    assert(neighbour.process.ended === undefined);
    const at = (port: number) => ({ address: a, ports: { [`grpc-${TRI_PORT}`]: port } });
    await site.endpoints(at(TRI_PORT), at(TRI_PORT + 1), b);
    await using consumer = await consumerOf(site);
    await consumer.reaches(a, b);
    const said = await site.findings("view/dubbo-metadata");
    assertEquals(said.length, 1);
    assertMatch(said[0]!, new RegExp(`${a}:${TRI_PORT} and ${a}:${TRI_PORT + 1}`));
  },
);

interopTest(
  "dubbo: providers of the older protocol are found by a port of TCP, and asked for metadata there",
  PEERS,
  async () => {
    await using addresses = await OwnAddresses.take(1);
    const [host] = addresses.all as [string];
    const service = { name: PROVIDER, ports: ["20880/TCP"], endpoints: [host] };
    await using pinnace = await Pinnace.start({ services: [service] });
    const registry = registryOf(pinnace.address);
    await using _provider = await startProvider({
      ...{ name: "older", application: PROVIDER, host, port: 20880 },
      ...{ protocol: "dubbo", registry },
    });
    await using consumer = await startConsumerPatiently({
      ...{ providedBy: PROVIDER, registry, metadata: "endpoint" },
    });
    await consumer.reaches("older");
  },
);

interopTest(
  "dubbo: an application that wants a certificate is told what to set",
  PEERS,
  async () => {
    await using folder = await TempFolder.create();
    await using authority = await Authority.create("mesh");
    const { cert, key } = await authority.issue({ names: "DNS:localhost" });
    const tls = {
      cert: await folder.write("tls.crt", cert),
      key: await folder.write("tls.key", key),
    };
    const address = `localhost:${freePort()}`;
    await using _pinnace = await Pinnace.start({
      services: [],
      listen: [{ address, tls, insecure: true }],
    });
    await using consumer = Dubbo.launch("Dubbo consumer", "interop.Consumer", {
      ...{ providedBy: PROVIDER, registry: `xds://${address}`, metadata: String(METADATA_PORT) },
    }, { env: { CA_ADDR: address } });
    await consumer.process.expect("its log has our advice", () => {
      return consumer.process.text.some((line) => /UNIMPLEMENTED: .*secure=plaintext/.test(line));
    });
  },
);
