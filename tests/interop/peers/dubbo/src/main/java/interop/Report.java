package interop;

/** What the test reads: JSON objects, one a line, on standard output. */
final class Report {
  private Report() {}

  static synchronized void line(String json) {
    System.out.println(json);
    System.out.flush();
  }

  /** A text as JSON has it. */
  static String quoted(String text) {
    StringBuilder out = new StringBuilder("\"");
    for (char c : text.toCharArray()) {
      if (c == '"' || c == '\\') out.append('\\').append(c);
      else if (c < ' ') out.append(String.format("\\u%04x", (int) c));
      else out.append(c);
    }
    return out.append('"').toString();
  }
}
