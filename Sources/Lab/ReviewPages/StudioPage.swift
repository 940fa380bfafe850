internal import SystemSupport
internal import ShippedFiles
internal import SignalPlots

/// An HTML page that plays, shows, and edits patterns.
///
/// The page contains the bytes of the patterns' files. It also contains the renderer, compiled to
/// WebAssembly, or loads it from the server of the studio. A page that contains the renderer needs
/// no network.
public struct StudioPage: Sendable {
  /// A pattern that the studio shows when the page is opened.
  public struct OpenDocument: Sendable {
    /// The file name of the pattern, with its extension.
    public var fileName: String
    /// The bytes of the pattern file, in any format that Temblor can read.
    public var bytes: [UInt8]
    /// The URL for saving the pattern, relative to the page's URL.
    ///
    /// With nil, the pattern is saved in the browser only.
    public var saveAddress: String?

    /// Creates a document from a file name, the bytes of the file, and the URL for saving it.
    public init(fileName: String, bytes: [UInt8], saveAddress: String? = nil) {
      self.fileName = fileName
      self.bytes = bytes
      self.saveAddress = saveAddress
    }
  }

  /// The maximum number of open patterns in a page: A and B.
  public static let maximumOpenDocumentCount = 2

  /// The program that generates the page, with its version.
  public var generator: String
  /// The name of the initial profile, or nil for the default of the page, small speakers.
  public var initialProfileName: String?
  /// The bytes of the profile's file, or nil for a shipped profile.
  ///
  /// The page contains the shipped profiles.
  public var initialProfileBytes: [UInt8]?

  /// Creates a page.
  ///
  /// - Parameters:
  ///   - generator: The program that generates the page, with its version.
  ///   - initialProfileName: The name of the initial profile, or nil for small speakers.
  ///   - initialProfileBytes: The bytes of the profile's file, or nil for a shipped profile.
  public init(
    generator: String, initialProfileName: String? = nil, initialProfileBytes: [UInt8]? = nil
  ) {
    self.generator = generator
    self.initialProfileName = initialProfileName
    self.initialProfileBytes = initialProfileBytes
  }

  /// The WebAssembly module of the renderer, in the compressed form that a page loads from
  /// `moduleAddress`.
  public static var moduleBytes: [UInt8] { PageResource.studioModule }

  /// Returns the bytes of the HTML page, which are reproducible.
  ///
  /// - Parameters:
  ///   - slots: No patterns, A, or A and B.
  ///   - moduleAddress: The URL from which the page loads `moduleBytes`, relative to its own URL;
  ///     nil for a page that contains the module as text, which is a quarter larger.
  /// - Throws: `tooMany` for more than `maximumOpenDocumentCount` patterns.
  public func html(
    _ slots: [OpenDocument], moduleAddress: String? = nil
  ) throws(ReviewPageError) -> [UInt8] {
    guard slots.count <= Self.maximumOpenDocumentCount else {
      throw ReviewPageError(
        .tooMany,
        "the studio supports at most \(Self.maximumOpenDocumentCount) patterns, not \(slots.count)")
    }
    let slotNames = slots.map(\.fileName).joined(separator: " and ")
    let pageData = EmbeddedJSON.objectBytes([
      "generator": generator, "profile": initialProfileName,
      "profileText": initialProfileBytes.map {
        String(decoding: Base64.encoded($0), as: UTF8.self)
      },
      "slots": slots.map(\.jsonFields), "module": moduleAddress,
    ])
    let usesServer = moduleAddress != nil || slots.contains { $0.saveAddress != nil }
    let connectSource = usesServer ? "'self'" : "'none'"
    let studioPage = ReviewPage(
      templateBytes: PageResource.studioPage, script: PageResource.studioScript,
      style: PageResource.studioStyle, generator: generator,
      title: slots.isEmpty ? "Studio" : slotNames,
      // The renderer runs in an audio worklet and a worker, whose scripts are data URLs.
      additionalPolicyText:
        " 'strict-dynamic' data: 'wasm-unsafe-eval'; worker-src data:; connect-src \(connectSource)"
    )
    return studioPage.makeHTML(
      contents: [
        "worklet": PageResource.studioWorklet, "worker": PageResource.studioWorker,
        "module": moduleAddress == nil ? Base91.encoded(PageResource.studioModule) : [],
        "patterns": PageResource.studioPatterns,
      ], data: pageData)
  }
}

extension StudioPage.OpenDocument {
  /// Returns the entity tag of a file: its SHA-256 hash.
  ///
  /// A server uses the tag to detect that the file has changed since the page was generated.
  public static func entityTag(of bytes: [UInt8]) -> String { SHA256.hash(of: bytes) }

  /// The document as JSON for the script of the page.
  fileprivate var jsonFields: JSONObject {
    [
      "name": fileName, "text": String(decoding: Base64.encoded(bytes), as: UTF8.self),
      "save": saveAddress.map { ["url": $0, "etag": Self.entityTag(of: bytes)] as JSONObject },
    ]
  }
}
