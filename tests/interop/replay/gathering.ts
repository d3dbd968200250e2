/**
 * What our server serves the client of a transcript in each world, to be handed to another server:
 * the very bytes.
 *
 * @module
 */
import { XDS_TYPES } from "../../../lib/model/xds_type.ts";
import type { Pinnace } from "../lib/pinnace.ts";
import { RawClient, type WireResponse, type World } from "./control_planes.ts";
import type { Ask, Transcript } from "./transcript.ts";

/** Everything of the world served now that a transcript asks for. */
export async function gather(pinnace: Pinnace, transcript: Transcript): Promise<World> {
  await using client = new RawClient(pinnace.address);
  const types: Record<string, World["types"][string]> = {};
  const asks = transcript.steps.filter((step) => step.do === "ask");
  const byType = Map.groupBy(asks, ({ type }) => type);
  for (const [typeUrl, asks] of byType) {
    const { version, resources } = await answer(client, transcript, typeUrl, namesOf(asks));
    types[typeUrl] = { version, resources };
  }
  return { types };
}

/** Every name that is asked for; none where all are. */
function namesOf(asks: readonly Ask[]): readonly string[] {
  const [first] = asks;
  const names = asks.flatMap(({ names, subscribe }) => [...names ?? [], ...subscribe ?? []]);
  const all = (first!.names ?? first!.subscribe) === undefined || names.includes("*");
  return all ? [] : [...new Set(names)].sort();
}

/** What is answered to a request of its own: for xDS types without a stream, since that is always answered. */
async function answer(
  client: RawClient,
  { node }: Transcript,
  typeUrl: string,
  resourceNames: readonly string[],
): Promise<WireResponse> {
  const type = XDS_TYPES.find((type) => type.typeUrl === typeUrl);
  const request = { node, typeUrl, resourceNames };
  if (type !== undefined) {
    return await client.fetch(`/${type.service}/Fetch${type.method}`, request);
  }
  const stream = await client.open("sotw");
  await client.send(request);
  return await client.process.expect(`${typeUrl} is answered`, () => client.responses(stream)[0]);
}
