import HapticPlayback
import Testing

/// A kind of output that names itself and keeps no frame.
private struct NamedOutput: OutputBackend {
  var scheme = "trial"
  var addressPlaceholder: String? = "NAME"
  func outputs(probing: Bool) -> [OutputListing] {
    [OutputListing(name: "\(scheme):one", description: probing ? "probed" : "listed")]
  }
  func open(_ name: String, _ request: OutputRequest, time: any TimeSource) throws(OutputError)
    -> sending OpenedOutput
  {
    guard name != "none" else { throw OutputError(.notFound, output: name, "no such output") }
    return OpenedOutput(
      sink: NullSink(request.requestedFormat, time: time), name: "\(scheme) \(name)")
  }
}

@Suite struct OutputRegistryTests {
  private let registry = OutputRegistry(
    [NamedOutput(scheme: "usual"), NullOutput()], defaultScheme: "usual"
  ).adding(
    NamedOutput())

  @Test(arguments: [
    ("trial:a", "trial", "a"), ("trial:a:b", "trial", "a:b"), ("null:", "null", ""),
    ("null", "usual", "null"),
    ("trial", "usual", "trial"), ("hw:1,0", "usual", "hw:1,0"), ("usual:hw:1", "usual", "hw:1"),
    ("", "usual", ""),
    (":", "usual", ":"),
  ]) func aSchemeNeedsItsColon(word: String, scheme: String, rest: String) {
    #expect(registry.parseName(word) == OutputName(scheme: scheme, address: rest))
  }

  @Test(arguments: [
    ("trial:a", OutputName(scheme: "trial", address: "a")), ("null", OutputName(scheme: "null")),
    ("null:", OutputName(scheme: "null")), ("null:x", nil), ("trial:", nil), ("trial", nil),
    ("hw:1", nil), ("", nil),
    (":", nil),
  ]) func aQualifiedNameHasItsScheme(word: String, name: OutputName?) {
    #expect(registry.parseQualifiedName(word) == name)
  }

  @Test func formsNameEachBackend() {
    #expect(registry.nameForms == ["usual:NAME", "null", "trial:NAME"])
  }

  @Test func namesLeadToTheirBackend() throws {
    let request = OutputRequest(rate: 8_000, channels: .exactly(3))
    #expect(try registry.open("a", request).name == "usual a")
    #expect(try registry.open("trial:a", request).name == "trial a")
    let null = try registry.open("null:", request)
    #expect(null.name == "null")
    #expect(
      null.format == SinkFormat(rate: 8_000, channelCount: 3, periodSize: 40, bufferSize: 160))
  }

  @Test(arguments: [
    ("null:x", OutputError.Kind.invalidName), ("trial:", .invalidName), ("trial:none", .notFound),
    ("none", .notFound),
  ]) func errorsHaveAKind(word: String, kind: OutputError.Kind) {
    let error = #expect(throws: OutputError.self) { try registry.open(word, OutputRequest()) }
    #expect(error?.kind == kind)
  }

  @Test func anUnknownSchemeIsAnError() {
    let error = #expect(throws: OutputError.self) {
      try registry.open(OutputName(scheme: "no", address: "a"), OutputRequest())
    }
    #expect(error?.kind == .invalidName)
    #expect(!registry.isAvailable(OutputName(scheme: "no", address: "a")))
    #expect(registry.isAvailable(OutputName(scheme: "null")))
  }

  @Test func listsAskEachBackend() {
    #expect(registry.outputs().map(\.name) == ["usual:one", "null:", "trial:one"])
    #expect(registry.outputs(probing: false).first?.description == "listed")
  }

  @Test func aBackendReplacesOneOfItsScheme() throws {
    let other = registry.adding(NamedOutput(scheme: "null", addressPlaceholder: nil))
    #expect(try other.open("null:", OutputRequest()).name == "null ")
    #expect(other.backends.count == 3)
  }
}
