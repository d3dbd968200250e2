/**
 * `grpc.reflection.v1.ServerReflection` and its older form `v1alpha`: what grpcurl and its like ask.
 *
 * @module
 */
import { ProtoFiles } from "../wire/proto_files.ts";
import {
  REFLECTION_VERSIONS,
  reflectionRequestCodec,
  reflectionResponseCodec,
  type ReflectionVersion,
} from "../wire/side_messages.ts";
import { answering } from "./answering.ts";
import type { EndStatus } from "./push_stream.ts";
import { ReflectionAnswers } from "./reflection_answers.ts";
import type { Sender } from "./sender.ts";
import type { PushServer } from "./server.ts";
import { readRequest, serviceNames } from "./side_request.ts";

/** The largest request: it holds a name or two. Bytes. */
const LARGEST = 10_000;

/** Adds reflection to a server, in both versions. */
export function addReflection(server: PushServer, sender: Sender): void {
  const options = { files: new ProtoFiles(), services: () => serviceNames(server) };
  for (const version of REFLECTION_VERSIONS) {
    const path = `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`;
    server.addHandler(path, () => {
      const answer = answerer(version, new ReflectionAnswers(options));
      return answering({ sender, answer, largest: LARGEST });
    });
  }
}

function answerer(
  version: ReflectionVersion,
  answers: ReflectionAnswers,
): (request: Uint8Array) => Uint8Array | EndStatus {
  const requests = reflectionRequestCodec(version);
  const responses = reflectionResponseCodec(version);
  return (bytes) => {
    const request = readRequest(bytes, requests);
    return "refused" in request ? request.refused : responses.encode(answers.answer(request.read));
  };
}
