internal import SystemSupport

/// Names of sound cards that hold whatever the order in which cards are connected.
///
/// `card:ID` is a card by the kernel's `id`, `usb:VENDOR:PRODUCT` the first one by its numbers in hexadecimal, and
/// `usb:VENDOR:PRODUCT:SERIAL` the one with that serial number.
enum LastingName {
  /// The name by which ALSA opens the card that is meant now; nil where it is not connected, and the name itself
  /// where it is another one.
  ///
  /// - Parameter root: In front of `/proc` and `/sys`.
  static func resolved(_ name: String, root: String = "") -> String? {
    if name.hasPrefix("card:") { return "plughw:CARD=" + name.dropFirst(5) }
    guard name.hasPrefix("usb:") else { return name }
    let parts = name.split(separator: ":", maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count >= 3 else { return nil }
    let numbers = parts[1...2].joined(separator: ":").lowercased()
    return cards(root: root).first { card in
      text("\(root)/proc/asound/card\(card)/usbid") == numbers
        && (parts.count < 4 || serial(card, root) == String(parts[3]))
    }.map { "plughw:\($0)" }
  }

  /// What a USB card is called here; nil for another one.
  static func name(ofCard card: Int, root: String = "") -> String? {
    text("\(root)/proc/asound/card\(card)/usbid").map { "usb:" + $0 + (serial(card, root).map { ":" + $0 } ?? "") }
  }

  private static func cards(root: String) -> [Int] {
    let names = (try? FileSystem.names(in: root + "/proc/asound")) ?? []
    return names.compactMap { $0.hasPrefix("card") ? Int($0.dropFirst(4)) : nil }.sorted()
  }

  /// The card's device is an interface of what has the number.
  private static func serial(_ card: Int, _ root: String) -> String? {
    text("\(root)/sys/class/sound/card\(card)/device/../serial")
  }

  private static func text(_ path: String) -> String? {
    guard let bytes = try? FileSystem.read(path, limit: 4_096) else { return nil }
    return String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
  }
}
