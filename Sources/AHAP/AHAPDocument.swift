public import Diagnostics
public import JSONText

/// An AHAP file as it was written: everything is kept, also what no reader knows.
public struct AHAPDocument: Sendable {
  /// The text and its values.
  public let json: JSONDocument

  /// Reads the text of a file, or refuses it with the place of the first syntax error.
  ///
  /// The name appears in places and errors. What the file means is looked at by `read` and
  /// `examine`.
  public init(text: [UInt8], name: String) throws(InputError) {
    do {
      json = try JSONDocument(text: text, name: name)
    } catch {
      throw InputError(error, rule: .syntax, foreignCode: CoreHapticsCode.invalidPatternData)
    }
  }
}
