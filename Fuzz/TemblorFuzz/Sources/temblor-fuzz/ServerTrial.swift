import ReviewPages

@testable import SystemSupport
@testable import TemblorCommands

/// Reads a text as a request to the server of the studio, however it is divided, and answers it.
struct ServerTrial {
  private static let secret = "5ec2e7"
  private static let saved = Array(#"{"Version":1.0,"Pattern":[]}"#.utf8)
  private static let patternPath = TrialFolder.write(saved, to: "a.ahap")

  let text: [UInt8]

  func run() {
    let site = StudioSite(
      studioPage: StudioPage(generator: "Temblor", initialProfileName: "phone"),
      patternPaths: [Self.patternPath], secretPathComponent: Self.secret, serverPort: 4_711)
    var choices = Choices(text)
    let whole = read(for: site) { text.count }
    let parts = read(for: site) { choices.pick(1, 2, 3, 17, 256) }
    require(whole == parts, "a request depends on how it is divided")
    switch whole {
    case .incomplete: break
    case .refused(let response): checkHead(response)
    case .complete(let request): answer(request, by: site)
    }
  }

  /// Reads the text in parts, up to the end of the request.
  private func read(
    for site: StudioSite, partLength: () -> Int
  ) -> HTTPRequestReader.Progress {
    var reader = HTTPRequestReader()
    var rest = text[...]
    while !rest.isEmpty {
      let part = rest.prefix(max(1, partLength()))
      rest = rest.dropFirst(part.count)
      let progress = reader.append(part, checkingHead: site.refusalResponse)
      guard case .incomplete = progress else {
        if case .complete = progress {
          require(reader.isHeadAccepted && !reader.isIncomplete, "complete, but not permitted")
        }
        return progress
      }
    }
    return .incomplete
  }

  private func answer(_ request: HTTPRequest, by site: StudioSite) {
    require(request.path.hasPrefix("/\(Self.secret)/"), "a request without the secret")
    require(["GET", "HEAD", "PUT"].contains(request.method), "the method \(request.method)")
    require(request.body.count <= HTTPRequest.maximumBodyByteCount, "a body too long")
    guard request.path != "/\(Self.secret)/" else { return }
    let response = site.response(to: request)
    checkHead(response)
    require([200, 204, 412].contains(response.statusCode), "the status \(response.statusCode)")
    let file = try? FileSystem.read(Self.patternPath)
    let isSaved = response.statusCode == 204
    require(isSaved == (request.method == "PUT" && response.statusCode != 412), "a lost change")
    require(file == (isSaved ? request.body : Self.saved), "another file")
    if isSaved {
      _ = TrialFolder.write(Self.saved, to: "a.ahap")
    } else {
      require(response.body == Self.saved, "another body")
    }
  }

  /// No text of a request may become a field of the response.
  private func checkHead(_ response: HTTPResponse) {
    let bytes = response.encodedBytes(omitsBody: true)
    let lines = String(decoding: bytes, as: UTF8.self).split(
      separator: "\r\n", omittingEmptySubsequences: false)
    let names =
      ["Connection", "Cache-Control", "Referrer-Policy", "X-Content-Type-Options", "ETag"]
      + ["Content-Type", "Content-Length"]
    require(lines[0].hasPrefix("HTTP/1.1 "), "no status line")
    require(lines.suffix(2) == ["", ""], "no end of the head")
    for line in lines.dropFirst().dropLast(2) {
      require(names.contains { line.hasPrefix($0 + ": ") }, "a field \(line)")
    }
  }
}
