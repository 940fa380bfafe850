internal import CALSA
internal import Glibc

/// The funnel to the library's lists of names: one function for each list.
enum DeviceNameBindings {
  /// `snd_device_name_hint`: what the configuration has names for and can play.
  static func hints() -> [ALSADevice] {
    LibraryErrors.silence()
    var list: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    guard unsafe snd_device_name_hint(-1, "pcm", &list) == 0, let list = unsafe list else {
      return []
    }
    defer { unsafe snd_device_name_free_hint(list) }
    var devices: [ALSADevice] = []
    var index = 0
    while let hint = unsafe list[index] {
      index += 1
      // A name without a direction goes both ways.
      guard let name = unsafe text("NAME", of: hint),
        unsafe text("IOID", of: hint) ?? "Output" == "Output"
      else { continue }
      let description = unsafe text("DESC", of: hint) ?? name
      devices.append(ALSADevice(name: name, description: line(description)))
    }
    return devices
  }

  /// `snd_card_next` and `snd_ctl_pcm_next_device`: the cards themselves, also those without a name.
  static func cardDevices() -> [ALSADevice] {
    LibraryErrors.silence()
    var devices: [ALSADevice] = []
    var card: Int32 = -1
    while unsafe snd_card_next(&card) == 0, card >= 0 {
      var control: OpaquePointer?
      guard unsafe snd_ctl_open(&control, "hw:\(card)", Int32(SND_CTL_NONBLOCK)) == 0 else {
        continue
      }
      defer { unsafe snd_ctl_close(control) }
      var number: Int32 = -1
      while unsafe snd_ctl_pcm_next_device(control, &number) == 0, number >= 0 {
        var information: OpaquePointer?
        guard unsafe snd_pcm_info_malloc(&information) == 0 else { continue }
        defer { unsafe snd_pcm_info_free(information) }
        unsafe snd_pcm_info_set_device(information, UInt32(number))
        unsafe snd_pcm_info_set_stream(information, SND_PCM_STREAM_PLAYBACK)
        // A device that only records has no such stream.
        guard unsafe snd_ctl_pcm_info(control, information) == 0 else { continue }
        let name = unsafe snd_pcm_info_get_name(information).map { unsafe String(cString: $0) }
        devices.append(
          ALSADevice(name: "hw:\(card),\(number)", description: line(name ?? "A sound card")))
      }
    }
    return devices
  }

  /// `snd_device_name_get_hint`.
  private static func text(_ key: String, of hint: UnsafeMutableRawPointer) -> String? {
    guard let text = unsafe snd_device_name_get_hint(hint, key) else { return nil }
    defer { unsafe free(text) }
    return unsafe String(cString: text)
  }

  /// Lines as one.
  private static func line(_ text: String) -> String {
    text.split(separator: "\n").joined(separator: ", ")
  }
}
