/**
 * What reflection answers: which services are served, and the .proto files that describe them.
 *
 * @module
 */
import type { DescribedFile, ProtoFiles } from "../wire/proto_files.ts";
import type { ServerReflectionRequest, ServerReflectionResponse } from "../wire/side_messages.ts";
import { STATUS_CODES, type StatusName } from "./push_stream.ts";

/** What one stream is answered from. */
export interface ReflectionOptions {
  readonly files: ProtoFiles;
  /** Full names of the services served. */
  readonly services: () => readonly string[];
}

/** Longest part of a name that is repeated in a message. Characters. */
const SHOWN = 200;

type Answer = Omit<ServerReflectionResponse, "validHost" | "originalRequest">;

/** Answers the requests of one stream; a file is sent once on it, as tools rely on. */
export class ReflectionAnswers {
  readonly #options: ReflectionOptions;
  readonly #sent = new Set<string>();

  constructor(options: ReflectionOptions) {
    this.#options = options;
  }

  /** The answer to one request. */
  answer(request: ServerReflectionRequest): ServerReflectionResponse {
    return { validHost: request.host, originalRequest: request, ...this.#answer(request) };
  }

  #answer(request: ServerReflectionRequest): Answer {
    const { files, services } = this.#options;
    if (request.listServices !== undefined) {
      return { listServicesResponse: { service: services().map((name) => ({ name })) } };
    }
    if (request.fileByFilename !== undefined) {
      return this.#give(files.file(request.fileByFilename), "file", request.fileByFilename);
    }
    if (request.fileContainingSymbol !== undefined) {
      const symbol = request.fileContainingSymbol;
      return this.#give(files.defining(symbol), "symbol", symbol);
    }
    const { allExtensionNumbersOfType: type, fileContainingExtension: extension } = request;
    if (type !== undefined) {
      if (!files.isMessage(type)) return missing("message", type);
      return { allExtensionNumbersResponse: { baseTypeName: type, extensionNumber: [] } };
    }
    if (extension !== undefined) {
      const { containingType, extensionNumber } = extension;
      return missing("extension", `${containingType} ${extensionNumber}`);
    }
    return failed("INVALID_ARGUMENT", "the request asks for nothing that is known here");
  }

  #give(file: DescribedFile | undefined, what: string, name: string): Answer {
    if (file === undefined) return missing(what, name);
    // The file itself always, since it is asked for; what it imports only where it was not sent yet.
    this.#sent.delete(file.path);
    return { fileDescriptorResponse: { fileDescriptorProto: this.#unsent(file) } };
  }

  /** A file and all that it imports, as far as not sent yet; a file comes before those that it imports. */
  #unsent(file: DescribedFile): Uint8Array[] {
    if (this.#sent.has(file.path)) return [];
    this.#sent.add(file.path);
    const imported = file.dependencies.flatMap((path) =>
      this.#unsent(this.#options.files.file(path)!)
    );
    return [file.bytes, ...imported];
  }
}

function missing(what: string, name: string): Answer {
  return failed("NOT_FOUND", `no ${what} is named ${name.slice(0, SHOWN)} here`);
}

function failed(code: StatusName, message: string): Answer {
  return { errorResponse: { errorCode: STATUS_CODES[code], errorMessage: message } };
}
