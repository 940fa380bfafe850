internal import Synchronization

/// A place in the middle of a plan to start from: the voices that sound there.
@unsafe
struct PlanEntry: ~Copyable {
  /// The frame of the pattern.
  let frame: Int64
  let nextVoice: Int
  let sounding: UnsafeMutableBufferPointer<Int32>
  let isReleased = Atomic<Bool>(false)

  init(frame: Int64, nextVoice: Int, sounding: [Int32]) {
    unsafe self.frame = frame
    unsafe self.nextVoice = nextVoice
    unsafe self.sounding = .allocate(capacity: sounding.count)
    _ = unsafe self.sounding.initialize(from: sounding)
  }

  deinit { unsafe sounding.deallocate() }
}

/// A place in the middle of a plan, as the control side holds it.
///
/// It must live until the render thread has let go of it.
@safe
public final class SharedEntry: @unchecked Sendable {
  let entry: UnsafeMutablePointer<PlanEntry>

  /// Finds the continuous voices that sound at a frame: a look at every voice before it.
  ///
  /// What has ended by then is past, and so are transients that have begun.
  public init(of plan: RenderPlan, at frame: Int64) {
    let frame = max(0, frame)
    let planned = unsafe plan.view.pointee.voices
    var next = 0
    var found: [Int32] = []
    while unsafe next < planned.count && planned[next].onset < frame {
      let voice = unsafe planned[next]
      if !voice.source.isBurst, voice.onset + voice.envelope.end > frame {
        found.append(Int32(clamping: next))
      }
      next += 1
    }
    unsafe entry = .allocate(capacity: 1)
    unsafe entry.initialize(to: PlanEntry(frame: frame, nextVoice: next, sounding: found))
  }

  deinit {
    unsafe entry.deinitialize(count: 1)
    unsafe entry.deallocate()
  }

  /// Whether the render thread has let go of it.
  public var isReleased: Bool { unsafe entry.pointee.isReleased.load(ordering: .acquiring) }
}
