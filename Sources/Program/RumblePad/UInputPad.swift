internal import CUInput
internal import Glibc
package import SystemSupport

/// An event that a game sends to a gamepad.
package enum PadEvent: Equatable {
  case upload(ForceFeedbackEffect, id: Int16)
  case erase(id: Int16)
  case play(id: Int16, count: Int)
  /// The game sets the gain of all effects, 0…1.
  case gain(Double)
}

/// A virtual gamepad with force feedback that the program provides to games.
package protocol ForceFeedbackPad: AnyObject {
  /// The descriptors that are readable while `readEvent()` has an event to return.
  var readableDescriptors: [Int32] { get }

  /// Returns the next event of a game, or nil if there is none. The game has already received the
  /// reply. The call never waits.
  func readEvent() throws -> PadEvent?
}

/// A virtual gamepad that the kernel module uinput provides. The gamepad exists as long as this
/// object.
package final class UInputPad: ForceFeedbackPad {
  private static let devicePath = "/dev/uinput"
  /// The USB vendor ID of the Xbox 360 controller, which games recognize.
  private static let vendorID: UInt16 = 0x045E
  /// The USB product ID of the Xbox 360 controller.
  private static let productID: UInt16 = 0x028E

  private let padDescriptor: Int32
  /// The descriptor of the physical gamepad whose buttons and axes are passed through.
  private let copiedPadDescriptor: Int32?
  private let copiedPadPath: String

  package var readableDescriptors: [Int32] {
    [padDescriptor] + (copiedPadDescriptor.map { [$0] } ?? [])
  }

  /// Creates a gamepad.
  ///
  /// - Parameters:
  ///   - name: The name of the new gamepad.
  ///   - copied: The device of a gamepad to grab and copy, including its buttons and axes; nil for
  ///     none.
  package init(name: String, copying copied: String?) throws(FileError) {
    copiedPadPath = copied ?? ""
    padDescriptor = unsafe open(Self.devicePath, O_RDWR | O_NONBLOCK | O_CLOEXEC)
    guard padDescriptor >= 0 else { throw Self.openingError(errno) }
    if let copiedPath = copied {
      let descriptor = unsafe open(copiedPath, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
      guard descriptor >= 0 else {
        let code = errno
        close(padDescriptor)
        throw FileError.systemError(
          copiedPath, "cannot be opened; specify a gamepad in /dev/input that you can read",
          code: code)
      }
      copiedPadDescriptor = descriptor
    } else {
      copiedPadDescriptor = nil
    }
    let creationResult =
      unsafe copiedPadDescriptor.map { cuinput_copy_pad(padDescriptor, $0) }
      ?? cuinput_make_pad(padDescriptor, name, Self.vendorID, Self.productID)
    guard creationResult >= 0 else {
      // Open descriptors are closed with this object.
      let code = errno
      throw FileError.systemError(copied ?? Self.devicePath, "cannot create a gamepad", code: code)
    }
  }

  deinit {
    close(padDescriptor)
    if let copiedPadDescriptor {
      close(copiedPadDescriptor)
    }
  }

  package static func openingError(_ code: Int32) -> FileError {
    switch code {
    case ENOENT, ENODEV:
      FileError(devicePath, "not found; load the kernel module with 'sudo modprobe uinput'")
    case EACCES, EPERM:
      FileError(
        devicePath,
        """
        you do not have permission to create gamepads; copy 70-temblor-rumble.rules to \
        /etc/udev/rules.d, run 'sudo udevadm control --reload' and 'sudo udevadm trigger \
        /dev/uinput', and log in again
        """
      )
    default:
      FileError.systemError(devicePath, "cannot be opened", code: code)
    }
  }

  package func readEvent() throws -> PadEvent? {
    if let copiedPadDescriptor {
      while var event = Self.readInputEvent(copiedPadDescriptor) {
        _ = unsafe write(padDescriptor, &event, MemoryLayout<input_event>.size)
      }
      if errno == ENODEV {
        throw FileError(copiedPadPath, "was unplugged; reconnect the gamepad and start again")
      }
    }
    while let inputEvent = Self.readInputEvent(padDescriptor) {
      switch Int32(inputEvent.type) {
      case EV_UINPUT where inputEvent.code == 1:
        if let upload = receiveEffect(UInt32(bitPattern: inputEvent.value)) {
          return upload
        }
      case EV_UINPUT where inputEvent.code == 2:
        if let erase = receiveErasure(UInt32(bitPattern: inputEvent.value)) {
          return erase
        }
      case EV_FF where Int32(inputEvent.code) == FF_GAIN:
        return .gain(Double(inputEvent.value) / 65_535)
      case EV_FF where Int32(inputEvent.code) < FF_GAIN:
        return .play(id: Int16(clamping: inputEvent.code), count: Int(inputEvent.value))
      default:
        break
      }
    }
    return nil
  }

  private static func readInputEvent(_ descriptor: Int32) -> input_event? {
    var inputEvent = input_event()
    let eventByteCount = MemoryLayout<input_event>.size
    return unsafe Glibc.read(descriptor, &inputEvent, eventByteCount) == eventByteCount
      ? inputEvent : nil
  }

  /// Receives an uploaded effect and replies to the game, which waits for the reply.
  private func receiveEffect(_ request: UInt32) -> PadEvent? {
    var kernelEffect = cuinput_effect()
    guard unsafe cuinput_begin_upload(padDescriptor, request, &kernelEffect) == 0 else {
      return nil
    }
    let effect = ForceFeedbackEffect(kernelEffect)
    guard cuinput_end_upload(padDescriptor, request, effect == nil ? -EINVAL : 0) == 0, let effect
    else {
      return nil
    }
    return .upload(effect, id: Int16(clamping: kernelEffect.id))
  }

  private func receiveErasure(_ request: UInt32) -> PadEvent? {
    let effectID = cuinput_erase(padDescriptor, request)
    return effectID < 0 ? nil : .erase(id: Int16(clamping: effectID))
  }
}

extension ForceFeedbackEffect {
  /// Creates an effect from the kernel's structure (linux/input.h). The result is nil for
  /// unsupported kinds such as springs.
  init?(_ effect: cuinput_effect) {
    func normalizedLevel(_ value: Int32) -> Double { min(1, abs(Double(value)) / 32_767) }
    func secondsFromMilliseconds(_ milliseconds: Int32) -> Double { Double(milliseconds) / 1_000 }
    switch effect.type {
    case FF_RUMBLE:
      kind = .rumble(strong: Double(effect.first) / 65_535, weak: Double(effect.second) / 65_535)
    case FF_PERIODIC:
      kind = .periodic(
        hertz: 1_000 / Double(max(1, effect.period)), level: normalizedLevel(effect.first))
    case FF_CONSTANT:
      kind = .constant(level: normalizedLevel(effect.first))
    case FF_RAMP:
      kind = .ramp(from: normalizedLevel(effect.first), to: normalizedLevel(effect.second))
    default:
      return nil
    }
    durationSeconds = secondsFromMilliseconds(effect.length)
    delaySeconds = secondsFromMilliseconds(effect.delay)
    envelope = Envelope(
      attackLength: secondsFromMilliseconds(effect.attack_length),
      attackLevel: normalizedLevel(effect.attack_level),
      fadeLength: secondsFromMilliseconds(effect.fade_length),
      fadeLevel: normalizedLevel(effect.fade_level))
  }
}
