package interop;

import io.grpc.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** What became of calls since it was last told. */
final class Tally {
  private final Map<String, Integer> answers = new TreeMap<>();
  private final List<String> failures = new ArrayList<>();
  private int unfinished = 0;

  static void say(String json) {
    synchronized (System.out) {
      System.out.println(json);
      System.out.flush();
    }
  }

  synchronized void started() {
    unfinished++;
  }

  synchronized void finished(Status status, String answer) {
    unfinished--;
    if (status.isOk()) {
      answers.merge(answer, 1, Integer::sum);
    } else {
      failures.add(status.getCode() + ": " + status.getDescription());
    }
    notifyAll();
  }

  synchronized void awaitSettled() throws InterruptedException {
    while (unfinished > 0) wait();
  }

  synchronized void tell(String event) {
    String counts = answers.entrySet().stream()
        .map(e -> quote(e.getKey()) + ":" + e.getValue())
        .collect(Collectors.joining(",", "{", "}"));
    String failed = failures.stream().map(Tally::quote).collect(Collectors.joining(",", "[", "]"));
    say("{\"event\":" + quote(event) + ",\"answers\":" + counts + ",\"failures\":" + failed
        + ",\"unfinished\":" + unfinished + "}");
    answers.clear();
    failures.clear();
  }

  private static String quote(String text) {
    StringBuilder out = new StringBuilder("\"");
    for (char c : text.toCharArray()) {
      if (c == '"' || c == '\\') out.append('\\').append(c);
      else if (c < ' ') out.append(String.format("\\u%04x", (int) c));
      else out.append(c);
    }
    return out.append('"').toString();
  }
}
