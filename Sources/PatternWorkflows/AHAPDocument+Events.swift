package import AHAP
package import JSONText

extension AHAPDocument {
  /// The text of an event, counted as in the pattern; the list of entries where there is none.
  package func event(at index: Int?) -> JSONValue {
    guard let entries = json.root["Pattern"] else { return json.root }
    guard let index else { return entries }
    var count = 0
    for entry in entries.elements {
      guard let event = entry["Event"] else { continue }
      if count == index { return event }
      count += 1
    }
    return entries
  }
}
