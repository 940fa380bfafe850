internal import AHAP
internal import CoreHaptics
internal import Diagnostics
internal import Foundation

extension CHHapticPattern {
  /// Reads AHAP text that is no file; the name is what errors call it.
  convenience init(text: Data, name: String) throws {
    let document: AHAPDocument
    do throws(InputError) {
      // Its errors tell line and column, and it takes what the reader of files takes.
      document = try AHAPDocument(text: Array(text), name: name)
      _ = try document.read()
    } catch {
      throw CHHapticError(
        .invalidPatternData, userInfo: [NSLocalizedDescriptionKey: error.description])
    }
    let canonical = Data(document.formatted())
    guard
      let dictionary = try JSONSerialization.jsonObject(with: canonical) as? [String: Any]
    else {
      throw CHHapticError(.invalidPatternData)
    }
    try self.init(dictionary: dictionary)
  }
}
