/**
 * A stand-in for the API server of a Kubernetes cluster that has nothing in it: as much as an istiod
 * needs to start. Lists are empty; a watch says that there was nothing to begin with, and stays open.
 *
 * @module
 */

const KINDS: Readonly<Record<string, string>> = {
  configmaps: "ConfigMap",
  customresourcedefinitions: "CustomResourceDefinition",
  endpointslices: "EndpointSlice",
  ingressclasses: "IngressClass",
  ingresses: "Ingress",
  mutatingwebhookconfigurations: "MutatingWebhookConfiguration",
  namespaces: "Namespace",
  nodes: "Node",
  pods: "Pod",
  secrets: "Secret",
  services: "Service",
  validatingwebhookconfigurations: "ValidatingWebhookConfiguration",
};

/** An API server without objects, on a loopback port. */
export class EmptyKube implements AsyncDisposable {
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #watches = new Set<ReadableStreamDefaultController<Uint8Array>>();

  constructor() {
    this.#server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      (request) => this.#answer(request),
    );
  }

  /** A kubeconfig that points here. */
  get kubeconfig(): string {
    return JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      clusters: [{
        name: "empty",
        cluster: { server: `http://127.0.0.1:${this.#server.addr.port}` },
      }],
      users: [{ name: "nobody", user: {} }],
      contexts: [{ name: "empty", context: { cluster: "empty", user: "nobody" } }],
      "current-context": "empty",
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const watch of this.#watches) watch.close();
    this.#watches.clear();
    await this.#server.shutdown();
  }

  #answer(request: Request): Response {
    const url = new URL(request.url);
    const path = url.pathname.split("/").filter((part) => part !== "");
    const kind = KINDS[path.at(-1) ?? ""];
    if (request.method !== "GET" || kind === undefined) return notFound();
    const metadataOnly = request.headers.get("accept")?.includes("as=PartialObjectMetadata");
    const type = metadataOnly
      ? { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1" }
      : { kind, apiVersion: path[0] === "api" ? path[1]! : path.slice(1, 3).join("/") };
    if (url.searchParams.get("watch") !== "true") {
      const list = { ...type, kind: `${type.kind}List`, metadata: { resourceVersion: "1" } };
      return Response.json({ ...list, items: [] });
    }
    return this.#watch(type, url.searchParams.get("sendInitialEvents") === "true");
  }

  /** A watch that asks for initial events waits for the bookmark that ends them. */
  #watch(type: { kind: string; apiVersion: string }, initial: boolean): Response {
    const watches = this.#watches;
    let self: ReadableStreamDefaultController<Uint8Array>;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        self = controller;
        watches.add(controller);
        if (initial) {
          controller.enqueue(new TextEncoder().encode(JSON.stringify(bookmark(type)) + "\n"));
        }
      },
      cancel() {
        watches.delete(self);
      },
    });
    return new Response(body, { headers: { "content-type": "application/json" } });
  }
}

function bookmark(type: { kind: string; apiVersion: string }) {
  const annotations = { "k8s.io/initial-events-end": "true" };
  return { type: "BOOKMARK", object: { ...type, metadata: { resourceVersion: "1", annotations } } };
}

function notFound(): Response {
  const status = { kind: "Status", apiVersion: "v1", status: "Failure", reason: "NotFound" };
  return Response.json({ ...status, code: 404 }, { status: 404 });
}
