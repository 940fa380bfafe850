import HapticPlayback
import Testing

/// An output whose name contains its scheme, and that discards all frames.
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
  ]) func schemeEndsWithAColon(text: String, scheme: String, address: String) {
    #expect(registry.parseName(text) == OutputName(scheme: scheme, address: address))
  }

  @Test(arguments: [
    ("trial:a", OutputName(scheme: "trial", address: "a")), ("null", OutputName(scheme: "null")),
    ("null:", OutputName(scheme: "null")), ("null:x", nil), ("trial:", nil), ("trial", nil),
    ("hw:1", nil), ("", nil),
    (":", nil),
  ]) func qualifiedNamesHaveAScheme(text: String, expected: OutputName?) {
    #expect(registry.parseQualifiedName(text) == expected)
  }

  @Test func nameFormsIncludeEachBackend() {
    #expect(registry.nameForms == ["usual:NAME", "null", "trial:NAME"])
  }

  @Test func namesSelectTheirBackend() throws {
    let request = OutputRequest(rate: 8_000, channels: .exactly(3))
    #expect(try registry.open("a", request).name == "usual a")
    #expect(try registry.open("trial:a", request).name == "trial a")
    let nullOutput = try registry.open("null:", request)
    #expect(nullOutput.name == "null")
    #expect(
      nullOutput.format == SinkFormat(rate: 8_000, channelCount: 3, periodSize: 40, bufferSize: 160)
    )
  }

  @Test(arguments: [
    ("null:x", OutputError.Kind.invalidName), ("trial:", .invalidName), ("trial:none", .notFound),
    ("none", .notFound),
  ]) func errorsHaveAKind(name: String, kind: OutputError.Kind) {
    let error = #expect(throws: OutputError.self) { try registry.open(name, OutputRequest()) }
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

  @Test func outputsOfEachBackendAreListed() {
    #expect(registry.outputs().map(\.name) == ["usual:one", "null:", "trial:one"])
    #expect(registry.outputs(probing: false).first?.description == "listed")
  }

  @Test func addedBackendReplacesTheOneOfItsScheme() throws {
    let changedRegistry = registry.adding(NamedOutput(scheme: "null", addressPlaceholder: nil))
    #expect(try changedRegistry.open("null:", OutputRequest()).name == "null ")
    #expect(changedRegistry.backends.count == 3)
  }
}
