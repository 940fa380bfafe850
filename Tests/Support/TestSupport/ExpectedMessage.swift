/// Sentences of messages that several suites expect.
///
/// `JSONErrorTests` and `TakeInputTests` compare their wording. All other tests use the constants.
public enum ExpectedMessage {
  /// The error for a text that ends inside the object that starts at line 1, column 1.
  public static let unclosedObject = "the text ends inside the object that starts at 1:1"
  /// The error for a word that is neither a file nor the name of a shipped pattern.
  public static let unknownPattern = "file not found, and no shipped pattern has this name"
}
