package interop;

import java.util.HashMap;
import java.util.Map;

/** Arguments of the form key=value. */
final class Arguments {
  private final Map<String, String> values = new HashMap<>();

  Arguments(String[] words) {
    for (String word : words) {
      int equals = word.indexOf('=');
      if (equals < 1) throw new IllegalArgumentException(word + ": arguments are key=value");
      values.put(word.substring(0, equals), word.substring(equals + 1));
    }
  }

  boolean has(String key) {
    return values.containsKey(key);
  }

  String text(String key) {
    String value = values.get(key);
    if (value == null) throw new IllegalArgumentException(key + "= is missing");
    return value;
  }

  int number(String key) {
    return Integer.parseInt(text(key));
  }
}
