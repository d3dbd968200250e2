export { getLogger } from "@logtape/logtape";
