/**
 * What the configuration says where the person says nothing. In the form of the configuration file.
 *
 * @module
 */

/** Defaults of every setting. Durations and sizes as they are written. */
export const DEFAULTS = {
  namespace: "default",
  domain: "svc.cluster.local",
  exportTo: ["*"],
  listen: ["127.0.0.1:15010"],
  heartbeat: "30s",
  wave: 1,
  merge: "refuse",
  quiet: "100ms",
  max: "1s",
  guard: 0.5,
  envoyBind: "127.0.0.1",
  portOffset: 0,
  trustedCa: "/etc/ssl/certs/ca-certificates.crt",
  poll: "5s",
  file: "32MiB",
  message: "16MiB",
  admin: "127.0.0.1:15014",
  logLevel: "info",
  logFormat: "text",
  unknownCollection: "empty",
} as const;
