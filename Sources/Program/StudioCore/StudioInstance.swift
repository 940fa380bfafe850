internal import HapticFormats
package import HapticRender
package import Reading
internal import RealtimeMemory
internal import TransducerProfiles

/// An instance of the studio, with the memory of its last results.
@safe package final class StudioInstance: @unchecked Sendable {
  let studio = Studio()
  /// The live sound, after it was started.
  var liveSound: LiveSound?
  /// The memory for bytes from a page.
  var inputBuffer = FixedBuffer<UInt8>(repeating: 0, count: 0)
  /// The output of the last call.
  var outputBuffer = FixedBuffer<UInt8>(repeating: 0, count: 0)
  /// The samples of the last rendering.
  var sampleBuffer = FixedBuffer<Float>(repeating: 0, count: 0)
  /// The memory of a plan that is being copied.
  var incomingPlan = FixedBuffer<UInt8>(repeating: 0, count: 0)
  /// An object that lives as long as the instance: the session of a C program.
  package var sessionOwner: AnyObject?

  package init() {}

  /// Returns the instance at an address.
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

  /// Sets the output to an error as JSON, and returns `result`.
  package func setError(_ error: InputError, returning result: Int32 = 0) -> Int32 {
    _ = setOutput(JSONWriter.objectText { $0.writeMembers(of: error.finding) })
    return result
  }

  /// Returns 1 for a readable document, or sets the output to its error.
  func status(of document: Document) -> Int32 {
    if let error = document.error { return setError(error) }
    return document.isReadable ? 1 : 0
  }

  /// Opens a file in a document, which is created if necessary. Returns its status.
  func open(_ index: Int32, _ file: SourceFile) -> Int32 {
    studio.makeDocuments(upTo: Int(index))
    return withDocument(index) { document in
      document.open(file)
      return status(of: document)
    }
  }

  /// Plays a plan from the position of the previous one. Returns 0 without a plan, or for an
  /// invalid slot.
  func play(_ slot: Int32, profile: Int32, _ makePlan: (LiveSound) -> RenderPlan?) -> Int32 {
    guard let liveSound, 0..<2 ~= slot, let plan = makePlan(liveSound) else { return 0 }
    liveSound.load(Int(slot), plan, profile: self.profile(profile))
    return 1
  }

  /// Returns whether a document exists.
  func hasDocument(_ index: Int32) -> Bool { studio.documents.indices.contains(Int(index)) }

  /// Compiles the audible pattern of a document; nil if it cannot be compiled.
  package func plan(_ index: Int32, profile: Int32, rate: Double) -> RenderPlan? {
    studio.plan(Int(index), profile: Int(profile), rate: rate)
  }

  /// Returns the profile with an index, or the first one for an invalid index.
  package func profile(_ index: Int32) -> TransducerProfile { studio.profile(Int(index)) }

  /// Calls a function with a document. Returns 0 for an invalid index.
  func withDocument(_ index: Int32, _ body: (inout Document) -> Int32) -> Int32 {
    hasDocument(index) ? body(&studio.documents[Int(index)]) : 0
  }
}

/// The address of an instance, as callers hold it.
public typealias StudioHandle = UnsafeMutableRawPointer
/// The address of bytes that a caller lends for a call. Their number is the next argument.
public typealias BytePointer = UnsafePointer<UInt8>

/// Copies the bytes that a caller lent for a call.
package func bytes(_ start: BytePointer?, _ length: Int32) -> [UInt8] {
  unsafe Array(UnsafeBufferPointer(start: start, count: start == nil ? 0 : Int(max(0, length))))
}

/// Decodes the UTF-8 text that a caller lent for a call.
package func text(_ start: BytePointer?, _ length: Int32) -> String {
  unsafe String(decoding: bytes(start, length), as: UTF8.self)
}

/// Copies the samples that a caller lent for a call.
func floats(_ start: UnsafePointer<Float>, _ count: Int32) -> [Float] {
  unsafe Array(UnsafeBufferPointer(start: start, count: Int(max(0, count))))
}
