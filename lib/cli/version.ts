/** The version of the program, as released. A test holds it to that of deno.json. */
export const VERSION = "0.1.0";
