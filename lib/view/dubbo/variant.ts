/**
 * Route configurations that say the same in other bytes.
 *
 * While it starts, a Dubbo application may ask for its routes a second time before it has noted the
 * first answer, and then waits for an answer that differs: one that is as before leaves it hanging for
 * ever. It compares virtual hosts whole, so another name of each is difference enough, and what
 * virtual hosts are called means nothing to it.
 *
 * @module
 */
import type { Resource } from "../../model/resource.ts";
import { routeConfigurationCodec } from "../../wire/messages.ts";
import { viewResource } from "../shared/view_resource.ts";

/** Forms that there are, the plain one included; bounds what is kept however often streams ask. */
const FORMS = 8;

const made = new WeakMap<Resource, Map<number, Resource>>();

/**
 * The RouteConfiguration as it is answered at the `opening`th time (from 1) that it is asked for anew:
 * as it is at the first, and never as at the time before. The same object for the same
 * resource and opening, so that streams share it.
 */
export function variantOf(routes: Resource, opening: number): Resource {
  const form = (opening - 1) % FORMS;
  if (form === 0) return routes;
  let forms = made.get(routes);
  if (forms === undefined) made.set(routes, forms = new Map());
  let variant = forms.get(form);
  if (variant === undefined) forms.set(form, variant = makeVariant(routes, form));
  return variant;
}

/** Where there is no virtual host, so that there is one to tell forms apart by. No application is called so. */
const NOBODY = { name: "nobody", domains: ["nobody.invalid"], routes: [] };

function makeVariant({ name, bytes }: Resource, form: number): Resource {
  const message = routeConfigurationCodec.decode(bytes);
  const hosts = message.virtualHosts.length > 0 ? message.virtualHosts : [NOBODY];
  const virtualHosts = hosts.map((host) => ({ ...host, name: `${host.name}~${form}` }));
  return viewResource(routeConfigurationCodec, name, { ...message, virtualHosts });
}
