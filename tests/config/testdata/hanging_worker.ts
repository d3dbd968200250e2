/** A worker that never comes to an end with its first request. */
self.addEventListener("message", () => {
  for (;;);
});
