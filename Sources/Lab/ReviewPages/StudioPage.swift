internal import SystemSupport
internal import ShippedFiles
internal import SignalPlots

/// A page that plays, shows and changes patterns with the renderer itself, compiled to WebAssembly.
///
/// It is one file that needs no network; patterns stand in it as the bytes of their files.
public struct StudioPage: Sendable {
  /// A pattern that the page opens with.
  public struct Slot: Sendable {
    /// What the page calls it, with its ending.
    public var name: String
    /// The bytes of its file, of any format that is read.
    public var bytes: [UInt8]
    /// Where the page saves it, relative to its own address; nil where only the browser does.
    public var address: String?

    /// A pattern.
    public init(name: String, bytes: [UInt8], address: String? = nil) {
      self.name = name
      self.bytes = bytes
      self.address = address
    }
  }

  /// Patterns that a page holds: A and B.
  public static let maximumSlotCount = 2

  /// The program that makes the page, with its version.
  public var generator: String
  /// The name of the profile that the page begins with.
  public var profileName: String
  /// The file of that profile; nil for a shipped one, which the page has.
  public var profileData: [UInt8]?

  /// A page of a generator and a profile.
  public init(
    generator: String, profileName profile: String, profileData profileText: [UInt8]? = nil
  ) {
    self.generator = generator
    self.profileName = profile
    self.profileData = profileText
  }

  /// The page as HTML; the same input gives the same bytes.
  ///
  /// - Parameter slots: None, A, or A and B.
  /// - Throws: `tooMany`.
  public func html(_ slots: [Slot]) throws(ReviewPageError) -> [UInt8] {
    guard slots.count <= Self.maximumSlotCount else {
      throw ReviewPageError(
        .tooMany, "\(slots.count) patterns; the studio takes at most \(Self.maximumSlotCount)")
    }
    let names = slots.map(\.name).joined(separator: " and ")
    let data = EmbeddedJSON.object([
      "generator": generator, "profile": profileName,
      "profileText": profileData.map { String(decoding: Base64.encoded($0), as: UTF8.self) },
      "slots": slots.map(\.fields),
    ])
    let served = slots.contains { $0.address != nil } ? "'self'" : "'none'"
    let page = Page(
      template: PageResource.studioPage, script: PageResource.studioScript,
      style: PageResource.studioStyle,
      generator: generator, title: slots.isEmpty ? "Studio" : names,
      // The renderer runs in an audio worklet and a worker, whose scripts are addresses of their
      // own text.
      additionalPolicy:
        " 'strict-dynamic' data: 'wasm-unsafe-eval'; worker-src data:; connect-src \(served)")
    return page.html(
      contents: [
        "worklet": PageResource.studioWorklet, "worker": PageResource.studioWorker,
        "module": PageResource.studioModule,
      ], data: data)
  }
}

extension StudioPage.Slot {
  /// By what a server knows whether the file is still the one the page was made of: its SHA-256.
  public static func entityTag(of bytes: [UInt8]) -> String { SHA256.hash(of: bytes) }

  fileprivate var fields: JSONObject {
    [
      "name": name, "text": String(decoding: Base64.encoded(bytes), as: UTF8.self),
      "save": address.map { ["url": $0, "etag": Self.entityTag(of: bytes)] as JSONObject },
    ]
  }
}
