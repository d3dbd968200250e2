package interop;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/** What came of calls. */
final class Tally {
  private final Map<String, Integer> answered = new TreeMap<>();
  private final Map<String, Integer> failed = new LinkedHashMap<>();

  synchronized void answer(String provider) {
    answered.merge(provider, 1, Integer::sum);
  }

  synchronized void failure(Throwable error) {
    String message = String.valueOf(error.getMessage());
    failed.merge(message.substring(0, Math.min(500, message.length())), 1, Integer::sum);
  }

  synchronized String json() {
    return "{\"event\":\"tally\",\"answered\":" + object(answered) + ",\"failed\":" + object(failed) + "}";
  }

  private static String object(Map<String, Integer> counts) {
    StringBuilder out = new StringBuilder("{");
    counts.forEach((key, count) -> {
      if (out.length() > 1) out.append(',');
      out.append(Report.quoted(key)).append(':').append(count);
    });
    return out.append('}').toString();
  }
}
