import ReviewPages
import SystemSupport

/// An HTTP/1.1 request (RFC 9112) with a body of known length.
struct HTTPRequest: Equatable {
  /// The maximum length of a head, in bytes. A longer head is rejected.
  static let maximumHeadLength = 1 << 14
  /// The maximum length of a saved pattern, in bytes. A longer body is rejected.
  static let maximumBodyLength = 1 << 23

  let method: String
  let path: String
  /// The header fields by lowercase name. The last field of a repeated name counts.
  let headers: [String: String]
  var body: [UInt8] = []

  enum ParseResult: Equatable { case incomplete, complete(HTTPRequest), refused(HTTPResponse) }

  static func parse(_ bytes: [UInt8]) -> ParseResult {
    let end = Array("\r\n\r\n".utf8)
    let head = bytes.prefix(maximumHeadLength)
    guard let start = head.indices.first(where: { head[$0...].starts(with: end) }) else {
      return bytes.count < maximumHeadLength
        ? .incomplete : .refused(HTTPResponse(431, "the request header has more than 16,384 bytes"))
    }
    let lines = String(decoding: head[..<start], as: UTF8.self).split(separator: "\r\n")
    let words = (lines.first ?? "").split(separator: " ")
    guard words.count == 3, words[2].hasPrefix("HTTP/1.") else {
      return .refused(HTTPResponse(400, "not an HTTP/1.1 request"))
    }
    var fields: [String: String] = [:]
    for line in lines.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1)
      guard parts.count == 2 else { continue }
      let value = parts[1].drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace)
        .reversed()
      fields[parts[0].lowercased()] = String(value)
    }
    var request = HTTPRequest(method: String(words[0]), path: String(words[1]), headers: fields)
    guard fields["transfer-encoding"] == nil, let length = Int(fields["content-length"] ?? "0"),
      length >= 0
    else {
      return .refused(HTTPResponse(411, "Content-Length is required"))
    }
    guard length <= maximumBodyLength else {
      return .refused(
        HTTPResponse(413, "the body has \(length) bytes; the limit is \(maximumBodyLength)"))
    }
    let body = bytes.dropFirst(start + end.count)
    guard body.count >= length else { return .incomplete }
    request.body = Array(body.prefix(length))
    return .complete(request)
  }
}

/// An HTTP/1.1 response, after which the connection is closed.
struct HTTPResponse: Equatable {
  var status: Int
  var contentType = "text/plain; charset=utf-8"
  var entityTag: String?
  var body: [UInt8]

  init(_ status: Int, _ line: String = "") {
    self.status = status
    body = Array((line.isEmpty ? "" : line + "\n").utf8)
  }

  init(_ status: Int = 200, contentType type: String, entityTag tag: String? = nil, body: [UInt8]) {
    self.status = status
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

  func bytes(omitsBody isHead: Bool = false) -> [UInt8] {
    var head =
      """
      HTTP/1.1 \(status) \(Self.reasonPhrases[status] ?? "")\r\nConnection: \
      close\r\nCache-Control: no-store\r\n
      """
    head += "Referrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\n"
    if let entityTag {
      head += "ETag: \"\(entityTag)\"\r\n"
    }
    if status != 204 {
      head += "Content-Type: \(contentType)\r\nContent-Length: \(body.count)\r\n"
    }
    return Array((head + "\r\n").utf8) + (isHead ? [] : body)
  }
}

/// The web site of the studio: the page, and patterns that the page reads and saves.
///
/// Anyone who knows the secret can read and write the named files and no others. Pages of other
/// sites cannot, because their requests have a different origin, or a different host if a name was
/// redirected to this machine.
struct StudioSite {
  let page: StudioPage
  let paths: [String]
  /// The first component of each path, which other users of the machine cannot guess.
  let secret: String
  let port: UInt16

  var address: String { "http://127.0.0.1:\(port)/\(secret)/" }

  func response(to request: HTTPRequest) -> HTTPResponse {
    let hosts = ["127.0.0.1:\(port)", "localhost:\(port)"]
    guard hosts.contains(request.headers["host"] ?? ""),
      request.headers["origin"].map({ origin in hosts.contains { "http://\($0)" == origin } })
        ?? true
    else {
      // The address contains the secret, so the reply names the host only.
      return HTTPResponse(403, "only pages served from http://\(hosts[0]) can use this server")
    }
    let components = request.path.split(separator: "/", omittingEmptySubsequences: false).map(
      String.init)
    guard components.count == 3, components[0].isEmpty, components[1] == secret else {
      return HTTPResponse(404, "not found")
    }
    do throws(FileError) {
      if components[2].isEmpty {
        guard ["GET", "HEAD"].contains(request.method) else {
          return HTTPResponse(405, "the page is read-only")
        }
        return HTTPResponse(contentType: "text/html; charset=utf-8", body: try html())
      }
      guard let index = Int(components[2]), paths.indices.contains(index) else {
        return HTTPResponse(404, "not found")
      }
      return try response(to: request, about: paths[index])
    } catch {
      return HTTPResponse(500, error.description)
    }
  }

  private func response(to request: HTTPRequest, about path: String) throws(FileError)
    -> HTTPResponse
  {
    let bytes = try FileSystem.read(path)
    let tag = StudioPage.OpenDocument.entityTag(of: bytes)
    let present = HTTPResponse(contentType: "application/octet-stream", entityTag: tag, body: bytes)
    switch request.method {
    case "GET", "HEAD":
      return present
    case "PUT":
      guard let expected = request.headers["if-match"] else {
        return HTTPResponse(428, "If-Match with the version to replace is required")
      }
      // The current version is returned so that a concurrent change is not lost.
      guard expected == "\"\(tag)\"" else {
        return HTTPResponse(412, contentType: present.contentType, entityTag: tag, body: bytes)
      }
      try AtomicFileWriter.write(request.body, to: path)
      return HTTPResponse(
        204, contentType: "", entityTag: StudioPage.OpenDocument.entityTag(of: request.body),
        body: [])
    default:
      return HTTPResponse(405, "a pattern supports GET and PUT")
    }
  }

  private func html() throws(FileError) -> [UInt8] {
    var slots: [StudioPage.OpenDocument] = []
    for (index, path) in paths.enumerated() {
      slots.append(
        .init(
          name: FileSystem.name(of: path), bytes: try FileSystem.read(path), address: "\(index)"))
    }
    do throws(ReviewPageError) {
      return try page.html(slots)
    } catch {
      throw FileError("studio", error.description)
    }
  }
}
