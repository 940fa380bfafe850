/// A picture that follows the width and the theme of the page; paper gets the wide, light one.
enum PictureElement {
  /// Pages narrower than this show the drawings for phones, in CSS pixels.
  static let narrowWidth = 640

  /// The markup of a picture of a report.
  static func markup(_ picture: ReportPicture) -> String {
    let narrow = "screen and (max-width: \(narrowWidth)px)"
    let dark = "(prefers-color-scheme: dark)"
    return "<picture>"
      + source(picture.narrow.dark, picture.narrow.size, for: "\(narrow) and \(dark)")
      + source(picture.narrow.light, picture.narrow.size, for: narrow)
      + source(picture.wide.dark, picture.wide.size, for: "screen and \(dark)")
      + "<img src=\"\(address(picture.wide.light))\" width=\"\(picture.wide.size.width)\" "
      + "height=\"\(picture.wide.size.height)\" alt=\"\(HTMLEscaping.escaped(picture.words))\"></picture>"
  }

  private static func source(
    _ drawing: [UInt8], _ size: (width: Int, height: Int), for media: String
  ) -> String {
    "<source media=\"\(media)\" srcset=\"\(address(drawing))\" width=\"\(size.width)\" "
      + "height=\"\(size.height)\">"
  }

  /// An SVG within the page.
  private static func address(_ drawing: [UInt8]) -> String {
    "data:image/svg+xml;base64," + String(decoding: Base64.encoded(drawing), as: UTF8.self)
  }
}

extension ReportPicture.Drawing {
  /// The axis as the page's script reads it.
  var axisText: String {
    [axis.start, axis.end, axis.left, axis.right]
      .map { PageNumberFormatting.plain($0, places: 6) }.joined(separator: " ")
  }
}
