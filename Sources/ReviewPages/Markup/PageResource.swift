/// The files that pages are made of.
enum PageResource {
  /// The frame of a report.
  static var reportPage: [UInt8] { PackageResources.report_html }
  /// The frame of a gallery.
  static var galleryPage: [UInt8] { PackageResources.gallery_html }
  /// What both pages look like.
  static var page: [UInt8] { PackageResources.page_css }
  /// What a report looks like.
  static var reportStyle: [UInt8] { PackageResources.report_css }
  /// What a gallery looks like.
  static var galleryStyle: [UInt8] { PackageResources.gallery_css }
  /// Keys, and the list of them.
  static var keys: [UInt8] { PackageResources.keys_js }
  /// Playing.
  static var sound: [UInt8] { PackageResources.sound_js }
  /// The blind test.
  static var blind: [UInt8] { PackageResources.blind_js }
  /// What a report does.
  static var report: [UInt8] { PackageResources.report_js }
  /// What a report's controls and keys are tied to.
  static var wiring: [UInt8] { PackageResources.wiring_js }
  /// What a gallery does.
  static var gallery: [UInt8] { PackageResources.gallery_js }

  /// One script of several files, in a block of its own, so that nothing in it has a global name.
  static func script(_ files: [[UInt8]]) -> [UInt8] {
    Array("\"use strict\";\n{\n".utf8) + Array(files.joined()) + Array("}\n".utf8)
  }
}
