import ReviewPages
import SystemSupport
import TestSupport
import Testing

@testable import TemblorCommands

/// Responses of the studio to browsers, which read and save files without losing changes of others.
@Suite struct StudioSiteTests {
  private let folder: TemporaryFolder
  private let site: StudioSite

  init() throws {
    folder = try TemporaryFolder()
    try folder.write(#"{"Version":1.0,"Pattern":[]}"#, to: "a.ahap")
    try folder.write("second", to: "b.ahap")
    site = StudioSite(
      studioPage: StudioPage(generator: "Temblor", initialProfileName: "phone"),
      patternPaths: [folder("a.ahap"), folder("b.ahap")],
      secretPathComponent: "5ec2e7", serverPort: 4_711)
  }

  private func ask(
    _ method: String = "GET", _ path: String = "/5ec2e7/0", host: String = "127.0.0.1:4711",
    tag: String? = nil,
    with fields: [String: String] = [:], body: String = ""
  ) -> HTTPResponse {
    var fields = fields
    fields["host"] = host
    if let tag {
      fields["if-match"] = "\"\(tag)\""
    }
    return site.response(
      to: HTTPRequest(method: method, path: path, headerFields: fields, body: Array(body.utf8)))
  }

  private func tag(_ text: String) -> String {
    StudioPage.OpenDocument.entityTag(of: Array(text.utf8))
  }

  @Test func patternIsSavedIfTheFileIsUnchanged() throws {
    let response = ask("GET", "/5ec2e7/1")
    #expect(
      response.statusCode == 200 && response.body == Array("second".utf8)
        && response.entityTag == tag("second"))
    let saveResponse = ask("PUT", "/5ec2e7/1", tag: tag("second"), body: "third")
    #expect(
      saveResponse.statusCode == 204 && saveResponse.entityTag == tag("third")
        && saveResponse.body.isEmpty)
    #expect(try FileSystem.read(folder("b.ahap")) == Array("third".utf8))
  }

  @Test func changesOfOthersAreReturnedInsteadOfReplaced() throws {
    try folder.write("theirs", to: "b.ahap")
    let response = ask("PUT", "/5ec2e7/1", tag: tag("second"), body: "mine")
    #expect(
      response.statusCode == 412 && response.body == Array("theirs".utf8)
        && response.entityTag == tag("theirs"))
    #expect(try FileSystem.read(folder("b.ahap")) == Array("theirs".utf8))
    #expect(ask("PUT", "/5ec2e7/1", body: "mine").statusCode == 428)
    #expect(ask("PUT", "/5ec2e7/1", with: ["if-match": "*"], body: "mine").statusCode == 412)
    #expect(try FileSystem.read(folder("b.ahap")) == Array("theirs".utf8))
  }

  /// Two pages and a text editor change one file. A page replaces only a text that it has seen.
  @Test(arguments: [1, 2, 3] as [UInt64]) func nothingUnseenIsReplaced(seed: UInt64) throws {
    var generator = SplitMixGenerator(state: seed)
    var knownTexts = ["second", "second"]
    var currentText = "second"
    var savedCount = 0
    for step in 0..<300 {
      let writer = Int.random(in: 0..<4, using: &generator)
      switch writer {
      case 0, 1:
        let text = "page \(writer), step \(step)"
        let response = ask("PUT", "/5ec2e7/1", tag: tag(knownTexts[writer]), body: text)
        #expect((response.statusCode == 204) == (knownTexts[writer] == currentText))
        if response.statusCode == 204 {
          currentText = text
          knownTexts[writer] = text
          savedCount += 1
        } else {
          knownTexts[writer] = String(decoding: response.body, as: UTF8.self)
          #expect(knownTexts[writer] == currentText)
        }
      case 2:
        currentText = "editor, step \(step)"
        try folder.write(currentText, to: "b.ahap")
      default:
        #expect(ask("GET", "/5ec2e7/1").body == Array(currentText.utf8))
      }
    }
    #expect(savedCount > 50)
    #expect(try FileSystem.read(folder("b.ahap")) == Array(currentText.utf8))
  }

  @Test func otherOriginsAreRefused() {
    let refusal = "only pages served from http://127.0.0.1:4711 can use this server\n"
    #expect(
      ask(host: "127.0.0.1:4711").statusCode == 200 && ask(host: "localhost:4711").statusCode == 200
    )
    // The requests name a host of another site that resolves to this computer, or come from a page
    // of another site.
    #expect(ask(host: "evil.example:4711") == HTTPResponse(403, String(refusal.dropLast())))
    #expect(ask("PUT", with: ["origin": "https://evil.example"], body: "x").statusCode == 403)
    #expect(ask(with: ["origin": "http://localhost:4711"]).statusCode == 200)
    #expect(ask("GET", "/0").statusCode == 404 && ask("GET", "/5ec2e8/0").statusCode == 404)
    for path in [
      "/5ec2e7/2", "/5ec2e7/-1", "/5ec2e7/../a.ahap", "/5ec2e7/0/", "5ec2e7/0", "/5ec2e7",
    ] {
      #expect(ask("GET", path).statusCode == 404, "\(path)")
    }
    #expect(ask("DELETE").statusCode == 405 && ask("PUT", "/5ec2e7/").statusCode == 405)
  }

  @Test func pageContainsTheCurrentFiles() throws {
    try folder.write("now", to: "b.ahap")
    let page = ask("GET", "/5ec2e7/")
    let text = String(decoding: page.body, as: UTF8.self)
    #expect(page.statusCode == 200 && page.contentType == "text/html; charset=utf-8")
    #expect(
      text.contains(#""name":"b.ahap","text":"bm93","save":{"url":"1","etag":"\#(tag("now"))"}"#))
    folder.remove("b.ahap")
    let missingResponse = ask("GET", "/5ec2e7/1")
    #expect(missingResponse.statusCode == 500)
    #expect(
      String(decoding: missingResponse.body, as: UTF8.self)
        == "\(folder("b.ahap")): cannot be opened: No such file or directory\n")
  }

  @Test("The page loads the module as bytes, instead of the text that a file contains")
  func moduleIsServedAsBytes() throws {
    let module = ask("GET", "/5ec2e7/module")
    #expect(module.statusCode == 200 && module.contentType == "application/octet-stream")
    #expect(module.body == StudioPage.moduleBytes)
    let page = ask("GET", "/5ec2e7/").body
    #expect(String(decoding: page, as: UTF8.self).contains(#""module":"module""#))
    let file = try StudioPage(generator: "Temblor").html([])
    #expect(page.count < file.count - module.body.count)
    #expect(ask("PUT", "/5ec2e7/module", tag: "", body: "x").statusCode == 405)
  }

  @Test func requestIsReadFromChunksOfAnySize() {
    let text =
      """
      PUT /5ec2e7/0 HTTP/1.1\r\nHost: 127.0.0.1:4711\r\nIF-MATCH:  \"1\"\r\nContent-Length: \
      3\r\n\r\nabc
      """
    let bytes = Array(text.utf8)
    let fields = ["host": "127.0.0.1:4711", "if-match": "\"1\"", "content-length": "3"]
    let expected = HTTPRequest(
      method: "PUT", path: "/5ec2e7/0", headerFields: fields, body: Array("abc".utf8))
    for size in 1...bytes.count {
      var reader = HTTPRequestReader()
      var progress = HTTPRequestReader.Progress.incomplete
      for start in stride(from: 0, to: bytes.count, by: size) {
        #expect(progress == .incomplete && reader.isIncomplete)
        let chunk = bytes[start..<min(start + size, bytes.count)]
        progress = reader.append(chunk, checkingHead: site.refusalResponse)
      }
      #expect(progress == .complete(expected) && !reader.isIncomplete)
    }
  }

  @Test("A request is refused by its head, before its body is received")
  func headsAreCheckedFirst() {
    var reader = HTTPRequestReader()
    let head =
      "PUT /wrong/0 HTTP/1.1\r\nHost: 127.0.0.1:4711\r\nContent-Length: 8000000\r\n\r\n"
    let progress = reader.append(Array(head.utf8)[...], checkingHead: site.refusalResponse)
    #expect(progress == .refused(HTTPResponse(404, "not found")))
    #expect(!reader.isHeadAccepted && reader.isIncomplete)
  }

  @Test(
    arguments: [
      ("GARBAGE\r\n\r\n", 400), ("GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 411),
      ("GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 411),
      ("PUT / HTTP/1.1\r\nContent-Length: 8388609\r\n\r\n", 413),
      ("PUT / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", 411),
      (String(repeating: "a", count: 1 << 14), 431),
    ])
  func badRequestsAreRefused(text: String, status: Int) {
    var reader = HTTPRequestReader()
    let progress = reader.append(Array(text.utf8)[...]) { _ in nil }
    guard case .refused(let response) = progress else {
      Issue.record("not refused")
      return
    }
    #expect(response.statusCode == status)
  }

  @Test func responsesDisableCachesAndTypeDetection() {
    let response = String(decoding: HTTPResponse(404, "not found").encodedBytes(), as: UTF8.self)
    #expect(
      response == """
        HTTP/1.1 404 Not Found\r
        Connection: close\r
        Cache-Control: no-store\r
        Referrer-Policy: no-referrer\r
        X-Content-Type-Options: nosniff\r
        Content-Type: text/plain; charset=utf-8\r
        Content-Length: 10\r
        \r
        not found

        """)
  }
}
