internal import HapticModel
internal import HapticRender
internal import Reading
internal import RealtimeMemory

/// An instance of the studio, with the memory of its last results.
@safe package final class StudioInstance: @unchecked Sendable {
  let studio = Studio()
  /// The live sound of the instance; nil before it was started.
  var liveSound: LiveSound?
  /// The memory for the input bytes of the next calls of a page.
  var inputBuffer = FixedBuffer<UInt8>(repeating: 0, count: 0)
  /// The status of the last call.
  var lastCallStatus = CallStatus.success
  /// The silent block for a caller that renders live sound before it has started.
  let silentBlock = FixedBuffer<Float>(repeating: 0, count: LiveSound.maximumBlockFrameCount)
  /// The output of the last call.
  var outputBuffer = FixedBuffer<UInt8>(repeating: 0, count: 0)
  /// The last rendering.
  var lastRendering = CachedRendering()
  /// The memory of a compiled plan that is being copied.
  var incomingPlanBytes = FixedBuffer<UInt8>(repeating: 0, count: 0)
  /// An object that the instance retains, such as the device session of a C program.
  package var retainedSession: AnyObject?

  package init() {}

  /// Returns the instance that a handle refers to.
  package static func instance(of handle: StudioHandle) -> StudioInstance {
    unsafe Unmanaged<StudioInstance>.fromOpaque(handle).takeUnretainedValue()
  }

  /// Sets the output, and returns its length in bytes.
  package func setOutput(_ bytes: [UInt8]) -> Int32 {
    outputBuffer = FixedBuffer(bytes)
    return Int32(clamping: bytes.count)
  }

  /// Sets the output to numbers of four bytes each in little-endian order, and returns its length
  /// in bytes.
  func setOutput(_ numbers: [Float]) -> Int32 {
    outputBuffer = FixedBuffer(count: 4 * numbers.count) { index in
      UInt8(truncatingIfNeeded: numbers[index / 4].bitPattern >> UInt32(8 * (index % 4)))
    }
    return Int32(clamping: outputBuffer.count)
  }

  /// Clears the output of the last call.
  func clearOutput() {
    guard outputBuffer.count > 0 else { return }
    outputBuffer = FixedBuffer(repeating: 0, count: 0)
  }

  /// Sets the status to the status of a failed call, and the output to the reason as JSON.
  func setFailure(_ error: CallError) {
    lastCallStatus = error.status
    _ = setOutput(JSONWriter.compactObjectText { $0.writeMembers(of: error.reason) })
  }
}

/// The samples of a rendering, in memory that the next rendering uses again.
struct CachedRendering: ~Copyable {
  /// The memory of the samples, which may be longer than the rendering.
  private(set) var buffer = FixedBuffer<Float>(repeating: 0, count: 0)
  /// The number of samples in the rendering.
  private(set) var sampleCount = 0
  /// The sample rate of the rendering, in hertz.
  private(set) var rate = Studio.defaultRateHertz
  /// The index of the profile that the rendering used.
  private(set) var profileIndex = 0

  /// The maximum length of the memory as a multiple of the rendering.
  private static let maximumMemoryToRenderingRatio = 4

  /// Removes the samples of the rendering, and resets the sample rate and the profile.
  mutating func clear() {
    sampleCount = 0
    rate = Studio.defaultRateHertz
    profileIndex = 0
  }

  /// Replaces the samples by those of a renderer with one channel.
  mutating func replace(by renderer: inout OfflineRenderer, rate: Double, profile: Int) {
    let frameCount = Int(renderer.remainingFrameCount)
    if frameCount > buffer.count || buffer.count / Self.maximumMemoryToRenderingRatio > frameCount {
      // The old memory is freed first. The renderer writes all elements of the new memory.
      buffer = FixedBuffer(repeating: 0, count: 0)
      buffer = unsafe FixedBuffer(uninitialized: frameCount)
    }
    var unwrittenSamples = buffer.mutableSpan
    var renderedSamples = unwrittenSamples._mutatingExtracting(first: frameCount)
    sampleCount = renderer.read(into: &renderedSamples)
    self.rate = rate
    self.profileIndex = profile
  }

  /// Returns the samples between two times, with silence beyond the ends.
  func excerpt(fromSeconds start: Double, toSeconds end: Double) -> [Float] {
    let startFrame = FrameConversion.frame(seconds: start, rate: rate)
    let endFrame = min(
      FrameConversion.frame(seconds: end, rate: rate),
      startFrame + Self.maximumExcerptSampleCount)
    return (startFrame..<max(startFrame, endFrame)).map { frame in
      let index = Int(clamping: frame)
      return index >= 0 && index < sampleCount ? buffer[index] : 0
    }
  }

  /// The maximum number of samples in an excerpt.
  private static let maximumExcerptSampleCount: Int64 = 1 << 24
}

/// The address of an instance, which identifies the instance in calls.
public typealias StudioHandle = UnsafeMutableRawPointer
/// The address of bytes that are valid during a call. The next argument of the call is the number
/// of bytes.
public typealias BytePointer = UnsafePointer<UInt8>
