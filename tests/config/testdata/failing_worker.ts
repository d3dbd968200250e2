/** A worker that dies of its first request. */
self.addEventListener("message", () => {
  throw new Error("the worker is made to fail");
});
