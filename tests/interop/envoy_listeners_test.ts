/** What becomes of connections to one port of a real Envoy that several services share. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { Authority } from "../transport/certificates.ts";
import { interopTest } from "./lib/binaries.ts";
import { ENVOY } from "./lib/envoy.ts";
import { sendOne } from "./lib/load.ts";
import { freePort, freePorts } from "./lib/ports.ts";
import { ServedEnvoy, through } from "./lib/served_envoy.ts";
import { callStream, HttpUpstream, StreamUpstream } from "./lib/upstreams.ts";

const HERE = ["127.0.0.1"];

interopTest(
  "envoy: HTTP, TLS and TCP on one port are told apart, even where the server speaks first",
  [ENVOY],
  async () => {
    await using authority = await Authority.create("ours");
    const papers = await authority.issue({ names: "DNS:*.example.com" });
    await using web = new HttpUpstream({ name: "web" });
    await using secure = new StreamUpstream({ name: "secure" }, papers);
    await using rest = new StreamUpstream({ name: "rest" });
    const port = freePort();
    await using _served = await ServedEnvoy.start("sotw", {
      services: [
        { name: "web", ports: [`${port}:${web.port}/HTTP`], endpoints: HERE },
        {
          name: "secure",
          hosts: ["a.example.com", "*.b.example.com"],
          resolution: "STATIC",
          ports: [`${port}:${secure.port}/TLS`],
          endpoints: HERE,
        },
        { name: "rest", ports: [`${port}:${rest.port}/TCP`], endpoints: HERE },
      ],
    });
    const at = `127.0.0.1:${port}`;
    assertEquals(await sendOne(through(port, "web")), "web");
    const byTls = (serverName: string) =>
      callStream({ at, tls: { serverName, caCerts: [authority.cert] } });
    assertEquals(await byTls("a.example.com"), "secure");
    // Whatever no TLS service has is TCP: that upstream speaks no TLS.
    await assertRejects(() => byTls("c.example.com"));
    assertEquals(await callStream({ at }), "rest");
  },
);

interopTest(
  "envoy: on one port TCP goes by address, and what else is at that address goes there",
  [ENVOY],
  async () => {
    await using authority = await Authority.create("ours");
    const papers = await authority.issue({ names: "DNS:a.example.com" });
    await using web = new HttpUpstream({ name: "web" });
    await using secure = new StreamUpstream({ name: "secure" }, papers);
    await using net = new StreamUpstream({ name: "net" });
    await using rest = new StreamUpstream({ name: "rest" });
    const [inner, equal, elsewhere] = freePorts(3) as [number, number, number];
    const service = (name: string, ports: string[], addresses: string[], extra = {}) => ({
      name,
      ports,
      addresses,
      endpoints: HERE,
      ...extra,
    });
    const on = (ports: number[], to: { port: number }, protocol: string) =>
      ports.map((port) => `${port}:${to.port}/${protocol}`);
    await using _served = await ServedEnvoy.start("sotw", {
      services: [
        service("net", on([inner], net, "TCP"), ["127.0.0.0/8"]),
        service("net-equal", on([equal], net, "TCP"), ["127.0.0.1"]),
        service("net-elsewhere", on([elsewhere], net, "TCP"), ["10.0.0.0/8"]),
        service("web", on([inner, equal, elsewhere], web, "HTTP"), ["127.0.0.1"]),
        service("secure", on([equal], secure, "TLS"), ["127.0.0.1"], { hosts: ["a.example.com"] }),
        service("rest", on([inner, equal, elsewhere], rest, "TCP"), []),
      ],
    });
    for (const port of [inner, equal, elsewhere]) {
      assertEquals(await sendOne(through(port, "web")), "web", `${port}`);
    }
    assertEquals(await callStream({ at: `127.0.0.1:${equal}` }), "net");
    assertEquals(await callStream({ at: `127.0.0.1:${elsewhere}` }), "rest");
    const tls = { serverName: "a.example.com", caCerts: [authority.cert] };
    assertEquals(await callStream({ at: `127.0.0.1:${equal}`, tls }), "secure");
  },
);

interopTest(
  "envoy: of a DYNAMIC_DNS service whatever name is asked for is looked up, of another it is not",
  [ENVOY],
  async () => {
    await using authority = await Authority.create("ours");
    const papers = await authority.issue({ names: "DNS:other.localhost" });
    await using web = new HttpUpstream({ name: "web" });
    await using secure = new StreamUpstream({ name: "secure" }, papers);
    await using second = new HttpUpstream({ name: "second" });
    const other = freePort();
    await using _served = await ServedEnvoy.start("sotw", {
      envoy: { portOffset: 1 },
      services: [{
        name: "any",
        hosts: ["*.localhost"],
        resolution: "DYNAMIC_DNS",
        ports: [`${web.port}/HTTP`, `${secure.port}/TLS`],
      }, {
        name: "target",
        hosts: ["*.target.localhost"],
        resolution: "DYNAMIC_DNS",
        ports: [`${other}:${web.port}/HTTP`],
      }, {
        name: "beside",
        hosts: ["*.beside.localhost"],
        resolution: "DYNAMIC_DNS",
        ports: [`${other}:${second.port}/HTTP`],
      }],
    });
    const [http, tls] = [web.port + 1, secure.port + 1];
    assertEquals(await sendOne(through(http, `some.localhost:${web.port}`)), "web");
    assertEquals(await sendOne(through(http, "some.localhost")), "web");
    // Each service on a listener has its own port of the endpoints.
    assertEquals(await sendOne(through(other + 1, "a.target.localhost")), "web");
    assertEquals(await sendOne(through(other + 1, "a.beside.localhost")), "second");
    await assertRejects(() => sendOne(through(http, `some.example.com:${web.port}`)), Error, "404");
    const byTls = (serverName: string) =>
      callStream({ at: `127.0.0.1:${tls}`, tls: { serverName, caCerts: [authority.cert] } });
    assertEquals(await byTls("other.localhost"), "secure");
    await assertRejects(() => byTls("other.example.com"));
  },
);

interopTest(
  "envoy: what was not redirected to a service without resolution ends, and does not go round in circles",
  [ENVOY],
  async () => {
    const [http, tcp] = freePorts(2) as [number, number];
    await using served = await ServedEnvoy.start("sotw", {
      services: [{
        name: "none",
        hosts: ["none.example.com"],
        addresses: ["127.0.0.0/8"],
        resolution: "NONE",
        ports: [`${http}/HTTP`, `${tcp}/TCP`],
      }],
    });
    await assertRejects(() => sendOne(through(http, "none.example.com")), Error, "503");
    await assertRejects(() => callStream({ at: `127.0.0.1:${tcp}` }));
    const connections = await served.envoy.stats("downstream_cx_total");
    const total = [...connections].filter(([name]) => name.startsWith("listener."));
    assert(total.every(([, count]) => count < 10), JSON.stringify(total));
  },
);
