import ReviewPages
import SystemSupport

/// An HTTP/1.1 request (RFC 9112) with a body of known length.
struct HTTPRequest: Equatable {
  /// The maximum size of the head of a request, in bytes. A longer head is rejected.
  static let maximumHeadByteCount = 1 << 14
  /// The maximum size of a saved pattern, in bytes. A longer body is rejected.
  static let maximumBodyByteCount = 1 << 23

  let method: String
  let path: String
  /// The header fields, by lowercase name. If a name is repeated, the last field is used.
  let headerFields: [String: String]
  var body: [UInt8] = []

  /// Parses the head of a request, without the empty line after it.
  ///
  /// - Parameter head: The bytes of the head.
  /// - Returns: The request without its body, and the length of the body.
  fileprivate static func parseHead(
    _ head: ArraySlice<UInt8>
  ) throws(HTTPRefusal) -> (request: HTTPRequest, bodyLength: Int) {
    let headLines = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
    let requestWords = (headLines.first ?? "").split(separator: " ")
    guard requestWords.count == 3, requestWords[2].hasPrefix("HTTP/1.") else {
      throw HTTPRefusal(HTTPResponse(400, "not an HTTP/1.1 request"))
    }
    var headerFields: [String: String] = [:]
    for line in headLines.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1)
      guard parts.count == 2 else { continue }
      let value = parts[1].drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace)
        .reversed()
      headerFields[parts[0].lowercased()] = String(value)
    }
    guard headerFields["transfer-encoding"] == nil,
      let contentLength = Int(headerFields["content-length"] ?? "0"),
      contentLength >= 0
    else {
      throw HTTPRefusal(HTTPResponse(411, "Content-Length is required"))
    }
    guard contentLength <= maximumBodyByteCount else {
      throw HTTPRefusal(
        HTTPResponse(
          413, "the body has \(contentLength) bytes; the limit is \(maximumBodyByteCount)"))
    }
    let request = HTTPRequest(
      method: String(requestWords[0]), path: String(requestWords[1]), headerFields: headerFields)
    return (request, contentLength)
  }
}

/// An error that refuses a request before its body is received, with the response to send.
private struct HTTPRefusal: Error {
  let response: HTTPResponse

  init(_ response: HTTPResponse) { self.response = response }
}

/// Collects the bytes of a request. Each byte is examined once, however the bytes are divided.
struct HTTPRequestReader {
  enum Progress: Equatable { case incomplete, complete(HTTPRequest), refused(HTTPResponse) }

  private static let headEnding = Array("\r\n\r\n".utf8)

  private var headBytes: [UInt8] = []
  /// The number of bytes at the end of `head` that match the start of `headEnding`.
  private var matchedHeadEndingByteCount = 0
  /// The request, whose body may still be incomplete; nil until the head has arrived and was not
  /// refused.
  private var request: HTTPRequest?
  /// The number of body bytes that have not arrived; nil until the head has been read.
  private var missingBodyByteCount: Int?

  /// A Boolean value that indicates whether the head is complete and was not refused.
  var isHeadAccepted: Bool { request != nil }
  /// A Boolean value that indicates whether more bytes of the request follow.
  var isIncomplete: Bool { missingBodyByteCount != 0 }

  /// Appends bytes. After a request that is complete or refused, no bytes may be appended.
  ///
  /// - Parameters:
  ///   - bytes: The bytes.
  ///   - refusal: A closure that returns the response if the request is refused by its head; its
  ///     body is not received.
  mutating func append(
    _ bytes: ArraySlice<UInt8>, checkingHead refusal: (HTTPRequest) -> HTTPResponse?
  ) -> Progress {
    var bytes = bytes
    if request == nil {
      guard readHead(&bytes) else {
        return headBytes.count < HTTPRequest.maximumHeadByteCount
          ? .incomplete
          : .refused(HTTPResponse(431, "the request header has more than 16,384 bytes"))
      }
      do throws(HTTPRefusal) {
        let parsed = try HTTPRequest.parseHead(headBytes.dropLast(Self.headEnding.count))
        missingBodyByteCount = parsed.bodyLength
        if let response = refusal(parsed.request) { return .refused(response) }
        request = parsed.request
      } catch {
        return .refused(error.response)
      }
    }
    let bodyAddition = bytes.prefix(missingBodyByteCount ?? 0)
    request?.body += bodyAddition
    missingBodyByteCount? -= bodyAddition.count
    guard missingBodyByteCount == 0, let request else { return .incomplete }
    return .complete(request)
  }

  /// Moves bytes to the head of the request, and returns true when the head is complete.
  private mutating func readHead(_ bytes: inout ArraySlice<UInt8>) -> Bool {
    while headBytes.count < HTTPRequest.maximumHeadByteCount, let byte = bytes.popFirst() {
      headBytes.append(byte)
      if byte == Self.headEnding[matchedHeadEndingByteCount] {
        matchedHeadEndingByteCount += 1
      } else {
        matchedHeadEndingByteCount = byte == Self.headEnding[0] ? 1 : 0
      }
      if matchedHeadEndingByteCount == Self.headEnding.count { return true }
    }
    return false
  }
}

/// An HTTP/1.1 response, after which the connection is closed.
struct HTTPResponse: Equatable {
  var statusCode: Int
  var contentType = "text/plain; charset=utf-8"
  var entityTag: String?
  var body: [UInt8]

  init(_ status: Int, _ line: String = "") {
    self.statusCode = status
    body = Array((line.isEmpty ? "" : line + "\n").utf8)
  }

  init(_ status: Int = 200, contentType type: String, entityTag tag: String? = nil, body: [UInt8]) {
    self.statusCode = status
    self.contentType = type
    self.entityTag = tag
    self.body = body
  }

  private static let reasonPhrases = [
    200: "OK", 204: "No Content", 400: "Bad Request", 403: "Forbidden", 404: "Not Found",
    405: "Method Not Allowed",
    411: "Length Required", 412: "Precondition Failed", 413: "Content Too Large",
    428: "Precondition Required",
    431: "Request Header Fields Too Large", 500: "Internal Server Error",
  ]

  func encodedBytes(omitsBody isHead: Bool = false) -> [UInt8] {
    var responseHead =
      """
      HTTP/1.1 \(statusCode) \(Self.reasonPhrases[statusCode] ?? "")\r\nConnection: \
      close\r\nCache-Control: no-store\r\n
      """
    responseHead += "Referrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\n"
    if let entityTag {
      responseHead += "ETag: \"\(entityTag)\"\r\n"
    }
    if statusCode != 204 {
      responseHead += "Content-Type: \(contentType)\r\nContent-Length: \(body.count)\r\n"
    }
    return Array((responseHead + "\r\n").utf8) + (isHead ? [] : body)
  }
}

/// The web site of the studio, which serves the page and the patterns that the page reads and
/// saves.
///
/// Anyone who knows the secret can read and write the named files and no others. Pages of other
/// sites cannot, because their requests have a different origin, or a different host if a name was
/// redirected to this machine.
struct StudioSite {
  let studioPage: StudioPage
  let patternPaths: [String]
  /// The first component of each URL path, which is a secret that other users of the machine cannot
  /// guess.
  let secretPathComponent: String
  /// The address on which the server listens.
  var serverAddress = ServerAddress.loopback
  let serverPort: UInt16

  /// The URL of the renderer's module, relative to that of the page. Patterns have numbers.
  private static let moduleAddress = "module"

  var siteAddress: String { "http://\(serverAddress.text):\(serverPort)/\(secretPathComponent)/" }

  /// Returns the response that refuses a request because of its head, or nil if the request is
  /// permitted.
  func refusalResponse(of request: HTTPRequest) -> HTTPResponse? {
    let localNames = serverAddress == .loopback ? ["localhost:\(serverPort)"] : []
    let allowedHosts = ["\(serverAddress.text):\(serverPort)"] + localNames
    guard allowedHosts.contains(request.headerFields["host"] ?? ""),
      request.headerFields["origin"].map({ origin in
        allowedHosts.contains { "http://\($0)" == origin }
      })
        ?? true
    else {
      // The address contains the secret, so the reply names the host only.
      return HTTPResponse(
        403, "only pages served from http://\(allowedHosts[0]) can use this server")
    }
    guard let resource = resource(atPath: request.path) else {
      return HTTPResponse(404, "not found")
    }
    if ["GET", "HEAD"].contains(request.method) { return nil }
    switch resource {
    case .page:
      return HTTPResponse(405, "the page is read-only")
    case .module:
      return HTTPResponse(405, "the module is read-only")
    case .pattern where request.method != "PUT":
      return HTTPResponse(405, "a pattern supports GET and PUT")
    case .pattern where request.headerFields["if-match"] == nil:
      return HTTPResponse(428, "If-Match with the version to replace is required")
    case .pattern:
      return nil
    }
  }

  /// A resource of the site, which the last component of the URL's path selects.
  private enum Resource {
    case page
    case module
    case pattern(path: String)
  }

  /// Returns the resource at the path of a URL, or nil without the secret or for an unknown name.
  private func resource(atPath path: String) -> Resource? {
    let pathComponents = path.split(separator: "/", omittingEmptySubsequences: false)
    guard pathComponents.count == 3, pathComponents[0].isEmpty,
      pathComponents[1] == secretPathComponent
    else {
      return nil
    }
    let name = pathComponents[2]
    if name.isEmpty { return .page }
    if name == Self.moduleAddress { return .module }
    guard let index = Int(name), patternPaths.indices.contains(index) else { return nil }
    return .pattern(path: patternPaths[index])
  }

  /// Returns the response to a complete request.
  func response(to request: HTTPRequest) -> HTTPResponse {
    if let refusal = refusalResponse(of: request) { return refusal }
    do throws(FileError) {
      switch resource(atPath: request.path) {
      case .page:
        return HTTPResponse(contentType: "text/html; charset=utf-8", body: try makeHTML())
      case .module:
        return HTTPResponse(
          contentType: "application/octet-stream", body: StudioPage.moduleBytes)
      case .pattern(let path):
        return try response(to: request, about: path)
      case nil:
        return HTTPResponse(404, "not found")
      }
    } catch {
      return HTTPResponse(500, error.description)
    }
  }

  private func response(to request: HTTPRequest, about path: String) throws(FileError)
    -> HTTPResponse
  {
    let fileBytes = try FileSystem.read(path)
    let entityTag = StudioPage.OpenDocument.entityTag(of: fileBytes)
    let currentResponse = HTTPResponse(
      contentType: "application/octet-stream", entityTag: entityTag, body: fileBytes)
    guard request.method == "PUT" else { return currentResponse }
    // The current version is returned so that a concurrent change is not lost.
    guard request.headerFields["if-match"] == "\"\(entityTag)\"" else {
      return HTTPResponse(
        412, contentType: currentResponse.contentType, entityTag: entityTag, body: fileBytes)
    }
    try AtomicFileWriter.write(request.body, to: path)
    return HTTPResponse(
      204, contentType: "", entityTag: StudioPage.OpenDocument.entityTag(of: request.body),
      body: [])
  }

  private func makeHTML() throws(FileError) -> [UInt8] {
    var slots: [StudioPage.OpenDocument] = []
    for (index, path) in patternPaths.enumerated() {
      slots.append(
        .init(
          fileName: FileSystem.fileName(of: path), bytes: try FileSystem.read(path),
          saveAddress: "\(index)"))
    }
    do throws(ReviewPageError) {
      return try studioPage.html(slots, moduleAddress: Self.moduleAddress)
    } catch {
      throw FileError("studio", error.description)
    }
  }
}
