/**
 * By which recipe each kind of client is served, and what they are called.
 *
 * @module
 */
import type { ViewKind } from "../view/client_views.ts";
import { dubboRecipe } from "../view/dubbo/recipe.ts";
import { envoyRecipe } from "../view/envoy/envoy_recipe.ts";
import { grpcRecipe } from "../view/grpc/recipe.ts";
import { type Maker, makerOf } from "../view/view_maker.ts";

/** What the clients of each kind are called. */
export const CLIENT_NAMES: Readonly<Record<ViewKind, string>> = {
  envoy: "Envoys",
  grpc: "gRPC programs",
  dubbo: "Dubbo applications",
};

/** Makes makers of views. */
export const VIEW_MAKERS: Readonly<Record<ViewKind, () => Maker>> = {
  envoy: () => makerOf(envoyRecipe),
  grpc: () => makerOf(grpcRecipe),
  dubbo: () => makerOf(dubboRecipe),
};
