internal import Reading
internal import RealtimeMemory

/// An instance of the studio, with the memory of its last results.
@safe package final class StudioInstance: @unchecked Sendable {
  let studio = Studio()
  /// The live sound of the instance; nil before it was started.
  var liveSound: LiveSound?
  /// The memory into which a page writes the bytes for its next calls.
  var inputBuffer = FixedBuffer<UInt8>(repeating: 0, count: 0)
  /// The status of the last call.
  var status = CallStatus.success
  /// The silent block for a caller that renders live sound before it has started.
  let silentBlock = FixedBuffer<Float>(repeating: 0, count: LiveSound.maximumBlockFrameCount)
  /// The output of the last call.
  var outputBuffer = FixedBuffer<UInt8>(repeating: 0, count: 0)
  /// The samples of the last rendering.
  var sampleBuffer = FixedBuffer<Float>(repeating: 0, count: 0)
  /// The memory of a compiled plan that is being copied.
  var incomingPlanBytes = FixedBuffer<UInt8>(repeating: 0, count: 0)
  /// An object that the instance retains, such as the device session of a C program.
  package var sessionOwner: AnyObject?

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
    status = error.status
    _ = setOutput(JSONWriter.compactObjectText { $0.writeMembers(of: error.reason) })
  }
}

/// The address of an instance, which identifies the instance in calls.
public typealias StudioHandle = UnsafeMutableRawPointer
/// The address of bytes that are valid during a call. The next argument of the call is the number
/// of bytes.
public typealias BytePointer = UnsafePointer<UInt8>
