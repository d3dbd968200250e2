package interop;

/** What providers offer. */
public interface Greeter {
  /** Who answers: the provider's name. */
  String whoAnswers(String question);
}
