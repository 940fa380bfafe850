internal import HapticFormats
package import HapticRender
package import Reading
internal import RealtimeMemory
internal import TransducerProfiles

// The checks of the C interface. Every function runs in `runCall` or `runLiveCall`, which set the
// status of the instance and, after a failure, make the reason the output. No argument reaches the
// studio before one of the functions below has accepted it.

/// The status of a call, with the number that `temblor_status` returns.
package enum CallStatus: Int32 {
  /// The call succeeded.
  case success = 0
  /// A number, length, name, or address is outside its documented range.
  case invalidArgument = 1
  /// A pattern, sound, profile, or change cannot be used.
  case invalidInput = 2
  /// The call requires another call that has not been made.
  case invalidState = 3
  /// A device cannot be opened, or cannot play.
  case deviceFailure = 4
}

/// The error of a call, with its status and reason.
package struct CallError: Error {
  let status: CallStatus
  let reason: Finding

  private static let invalidArgumentRule = Rule.error(
    "argument", "interface", "Every argument must be in its documented range.")
  private static let invalidStateRule = Rule.error(
    "state", "interface", "A call must follow the calls that it depends on.")
  private static let deviceFailureRule = Rule.error(
    "device", "playback", "The device must be able to play.")

  /// Creates the error for an input that cannot be used.
  package init(_ error: InputError) {
    status = .invalidInput
    reason = error.finding
  }

  private init(
    _ status: CallStatus, _ rule: Rule, _ message: String, suggestion: String?, file: String
  ) {
    self.status = status
    reason = Finding(
      rule, location: FileLocation(name: file), message, suggestion: suggestion)
  }

  /// Returns the error for an argument outside its documented range.
  package static func invalidArgument(_ message: String, suggestion: String? = nil) -> CallError {
    CallError(.invalidArgument, invalidArgumentRule, message, suggestion: suggestion, file: "")
  }

  /// Returns the error for a call that requires another call first.
  package static func invalidState(_ message: String, suggestion: String? = nil) -> CallError {
    CallError(.invalidState, invalidStateRule, message, suggestion: suggestion, file: "")
  }

  /// Returns the error for a failure of a device.
  package static func deviceFailure(_ message: String, name: String = "") -> CallError {
    CallError(.deviceFailure, deviceFailureRule, message, suggestion: nil, file: name)
  }
}

// MARK: - Calls

/// Clears the output, runs a call, and sets the status. After a failure, the output is the reason.
///
/// - Parameters:
///   - handle: The instance. The call fails without one.
///   - failureResult: The result of a failed call.
///   - body: The function, which returns the result of a successful call.
package func runCall(
  _ handle: StudioHandle?, failureResult: Int32 = 0,
  _ body: (StudioInstance) throws(CallError) -> Int32
) -> Int32 {
  guard let handle = unsafe handle else { return failureResult }
  unsafe StudioInstance.instance(of: handle).clearOutput()
  return unsafe runLiveCall(handle, failureResult: failureResult, body)
}

/// Runs a call that controls live sound. The call changes the output of the instance only if it
/// fails. A successful call thus neither allocates nor frees memory.
func runLiveCall(
  _ handle: StudioHandle?, failureResult: Int32 = 0,
  _ body: (StudioInstance) throws(CallError) -> Int32
) -> Int32 {
  guard let handle = unsafe handle else { return failureResult }
  let instance = unsafe StudioInstance.instance(of: handle)
  do throws(CallError) {
    let callResult = try body(instance)
    instance.lastCallStatus = .success
    return callResult
  } catch {
    instance.setFailure(error)
    return failureResult
  }
}

/// Runs an operation on an input, and converts its error to a `CallError`.
func convertingInputErrors<Result: ~Copyable>(
  _ body: () throws(InputError) -> Result
) throws(CallError)
  -> Result
{
  do throws(InputError) {
    return try body()
  } catch {
    throw CallError(error)
  }
}

// MARK: - Bytes

/// Copies the bytes that a caller passes.
///
/// - Throws: An error for a negative length, or for a length without an address.
package func copyBytes(_ start: BytePointer?, _ length: Int32, of name: String) throws(CallError)
  -> [UInt8]
{
  try checkLength(length, of: name, hasAddress: unsafe start != nil)
  return unsafe Array(UnsafeBufferPointer(start: start, count: Int(length)))
}

/// Decodes the UTF-8 text that a caller passes. Invalid bytes become U+FFFD.
///
/// - Throws: An error for a negative length, or for a length without an address.
package func decodeText(_ start: BytePointer?, _ length: Int32, of name: String) throws(CallError)
  -> String
{
  unsafe String(decoding: try copyBytes(start, length, of: name), as: UTF8.self)
}

/// Copies the interleaved samples that a caller passes.
///
/// - Throws: An error for a negative count, a count without an address, an incomplete last frame,
///   or an unsupported number of channels.
func copySamples(_ start: UnsafePointer<Float>?, _ count: Int32, channels: Int32) throws(CallError)
  -> [Float]
{
  try checkLength(count, of: "samples", hasAddress: unsafe start != nil)
  try checkInteger(channels, 1...maximumSoundChannelCount, "the number of channels")
  guard count % channels == 0 else {
    throw .invalidArgument(
      "\(count) samples are not a whole number of frames of \(channels) channels",
      suggestion: "pass the number of samples of all channels together")
  }
  return unsafe Array(UnsafeBufferPointer(start: start, count: Int(count)))
}

/// The maximum number of channels in a sound file that the host adds.
private let maximumSoundChannelCount: Int32 = 64

private func checkLength(_ length: Int32, of name: String, hasAddress: Bool) throws(CallError) {
  guard length >= 0 else {
    throw .invalidArgument("the length of \(name) is \(length)", suggestion: "use 0 or more")
  }
  guard hasAddress || length == 0 else {
    throw .invalidArgument("\(name) is NULL, but has the length \(length)")
  }
}

// MARK: - Numbers

/// Throws an error for an integer outside its range.
package func checkInteger(_ value: Int32, _ range: ClosedRange<Int32>, _ name: String)
  throws(CallError)
{
  guard range.contains(value) else {
    throw .invalidArgument(
      "\(name) is \(value)", suggestion: "use \(range.lowerBound) to \(range.upperBound)")
  }
}

/// Throws an error for a number outside its range, and for NaN. The bounds are whole numbers.
package func checkNumber(_ value: Double, _ range: ClosedRange<Double>, _ name: String)
  throws(CallError)
{
  guard range.contains(value) else {
    throw .invalidArgument(
      "\(name) is \(value)", suggestion: "use \(Int(range.lowerBound)) to \(Int(range.upperBound))")
  }
}

/// Throws an error for a sample rate that cannot be rendered.
package func checkSampleRate(_ rate: Double) throws(CallError) {
  try checkNumber(rate, RenderPlan.supportedSampleRates, "the sample rate")
}

// MARK: - Slots and profiles

extension StudioInstance {
  /// Returns the profile with the given index.
  package func profile(_ index: Int32) throws(CallError) -> TransducerProfile {
    studio.profiles[try checkedProfileIndex(index)]
  }

  /// Returns a profile index unchanged, or throws an error if there is no such profile.
  func checkedProfileIndex(_ index: Int32) throws(CallError) -> Int {
    guard studio.profiles.indices.contains(Int(index)) else {
      throw .invalidArgument(
        "there is no profile \(index)", suggestion: "use 0 to \(studio.profiles.count - 1)")
    }
    return Int(index)
  }

  /// Returns the index of a document unchanged, or throws an error if there is no such document.
  func checkedDocumentIndex(_ slot: Int32) throws(CallError) -> Int {
    try checkInteger(slot, 0...Int32(Studio.maximumDocumentCount - 1), "the slot")
    guard studio.documents.indices.contains(Int(slot)) else {
      throw .invalidState("slot \(slot) has no pattern", suggestion: "call temblor_open first")
    }
    return Int(slot)
  }

  /// Calls a closure with the document at the given index.
  func withDocument<Result>(
    _ slot: Int32, _ body: (inout Document) throws(CallError) -> Result
  ) throws(CallError) -> Result {
    try body(&studio.documents[try checkedDocumentIndex(slot)])
  }

  /// Opens a file in a document, which is created if necessary.
  func openDocument(_ slot: Int32, _ file: SourceFile) throws(CallError) -> Int32 {
    try checkInteger(slot, 0...Int32(Studio.maximumDocumentCount - 1), "the slot")
    studio.makeDocuments(upToIndex: Int(slot))
    return try withDocument(slot) { document throws(CallError) in
      document.open(file)
      return try Self.readingResult(of: document)
    }
  }

  /// Returns 1 for a readable document, or throws its reading error.
  static func readingResult(of document: Document) throws(CallError) -> Int32 {
    if let error = document.readingError { throw CallError(error) }
    guard document.isReadable else { throw .invalidState("the slot has no pattern") }
    return 1
  }

  /// Compiles the audible pattern of a document.
  package func compilePlan(_ slot: Int32, profile: Int32, rate: Double) throws(CallError)
    -> RenderPlan
  {
    let slot = try checkedDocumentIndex(slot)
    let profile = try checkedProfileIndex(profile)
    return try convertingInputErrors { () throws(InputError) in
      try studio.compilePlan(slot, profile: profile, rate: rate)
    }
  }

  /// Creates the renderer of the audible pattern of a document, with one channel.
  func makeRenderer(of slot: Int32, profile: Int32, rate: Double) throws(CallError)
    -> OfflineRenderer
  {
    try checkSampleRate(rate)
    let slot = try checkedDocumentIndex(slot)
    let profile = try checkedProfileIndex(profile)
    return try convertingInputErrors { () throws(InputError) in
      try studio.makeRenderer(of: slot, profile: profile, rate: rate)
    }
  }

  /// Plays a compiled plan in place of the previous plan, from the previous plan's current
  /// position.
  func play(
    _ slot: Int32, profile: Int32, _ makePlan: (LiveSound) throws(CallError) -> RenderPlan
  ) throws(CallError) -> Int32 {
    let liveSound = try startedLiveSound()
    try checkInteger(slot, 0...1, "the slot")
    let profile = try self.profile(profile)
    liveSound.loadPlan(Int(slot), try makePlan(liveSound), profile: profile)
    return 1
  }

  /// Returns the live sound, or throws an error if it has not started.
  func startedLiveSound() throws(CallError) -> LiveSound {
    guard let liveSound else {
      throw .invalidState("live sound has not started", suggestion: "call temblor_live_start first")
    }
    return liveSound
  }
}
