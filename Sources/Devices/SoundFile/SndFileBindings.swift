#if SoundOutput
  import CSndFile
  import Glibc
  internal import Synchronization
  internal import SystemSupport

  /// Wrappers for the functions of libsndfile, with checked results and the program's own messages.
  enum SndFileBindings {
    static let isAvailable = temblor_has_sndfile()

    /// Calls `sf_format_check`, and returns whether a format can be written.
    static func canWrite(_ info: SF_INFO) -> Bool {
      guard isAvailable else { return true }
      var info = info
      return unsafe sf_format_check(&info) != 0
    }

    /// A lock for opening files, because libsndfile stores the reason of the last failed opening
    /// only once per process.
    private static let openingLock = Mutex(())

    /// Calls `sf_open_fd`. The descriptor stays open when the handle closes.
    static func open(descriptor: Int32, mode: Int, info: inout SF_INFO, path: String)
      throws(SoundFileError)
      -> OpaquePointer
    {
      guard isAvailable else {
        throw SoundFileError(
          kind: .systemRefused, path: path,
          description: "requires libsndfile; install the package libsndfile1")
      }
      // If opening fails, libsndfile closes the descriptor even when it should stay open.
      let own = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
      guard own >= 0 else { throw SoundFileError.systemError(path, "cannot be opened") }
      var opened = info
      let result = unsafe openingLock.withLock { _ -> Result<OpaquePointer, SoundFileError> in
        errno = 0
        guard let handle = unsafe sf_open_fd(own, Int32(mode), &opened, 1) else {
          return unsafe .failure(error(message(of: nil), path: path, reading: mode == SFM_READ))
        }
        return unsafe .success(handle)
      }
      info = opened
      return unsafe try result.get()
    }

    /// Calls `sf_set_string`. A format without this tag ignores the call.
    static func setTag(_ tag: Int, _ text: String, of handle: OpaquePointer) {
      _ = unsafe sf_set_string(handle, Int32(tag), text)
    }

    /// Calls `sf_command` with `SFC_SET_ADD_PEAK_CHUNK` to omit the chunk that contains the time of
    /// day.
    static func omitPeakChunk(of handle: OpaquePointer) {
      _ = unsafe sf_command(handle, Int32(SFC_SET_ADD_PEAK_CHUNK), nil, Int32(SF_FALSE))
    }

    /// Calls `sf_command` with `SFC_UPDATE_HEADER_NOW`, which writes the header with the current
    /// length.
    static func updateHeader(of handle: OpaquePointer) {
      _ = unsafe sf_command(handle, Int32(SFC_UPDATE_HEADER_NOW), nil, 0)
    }

    /// Calls `sf_command` with `SFC_SET_COMPRESSION_LEVEL` for the smallest FLAC with the same
    /// samples.
    static func setMaximumCompression(_ handle: OpaquePointer) {
      var level = 1.0
      _ = unsafe sf_command(
        handle, Int32(SFC_SET_COMPRESSION_LEVEL), &level, Int32(MemoryLayout<Double>.size))
    }

    static func write<Sample>(
      _ samples: Span<Sample>, frameCount: Int, to handle: OpaquePointer, path: String,
      with call: (OpaquePointer?, UnsafePointer<Sample>?, sf_count_t) -> sf_count_t
    ) throws(SoundFileError) {
      errno = 0
      let written = unsafe samples.withUnsafeBufferPointer {
        unsafe call(handle, $0.baseAddress, sf_count_t(frameCount))
      }
      guard written == frameCount else {
        throw unsafe error(message(of: handle), path: path, reading: false)
      }
    }

    /// Calls `sf_readf_float`, and returns the number of frames, or 0 at the end.
    static func read(
      _ samples: inout MutableSpan<Float>, frameCount: Int, from handle: OpaquePointer
    ) -> Int {
      unsafe samples.withUnsafeMutableBufferPointer {
        unsafe Int(sf_readf_float(handle, $0.baseAddress, sf_count_t(frameCount)))
      }
    }

    /// Calls `sf_error` and `sf_strerror`, and returns the read error, or nil if there is none.
    static func readError(of handle: OpaquePointer) -> String? {
      guard unsafe sf_error(handle) > 0 else { return nil }
      return unsafe String(cString: sf_strerror(handle))
    }

    /// Calls `sf_command` with `SFC_GET_FORMAT_INFO`, and returns libsndfile's name for a container
    /// or an encoding.
    static func formatName(ofCode code: Int32) -> String {
      var info = unsafe SF_FORMAT_INFO()
      unsafe info.format = code
      let status = unsafe sf_command(
        nil, Int32(SFC_GET_FORMAT_INFO), &info, Int32(MemoryLayout<SF_FORMAT_INFO>.size))
      guard status == 0, let name = unsafe info.name else { return "unknown" }
      return unsafe String(cString: name)
    }

    /// Calls `sf_close`, which completes the header.
    static func close(_ handle: OpaquePointer, path: String) throws(SoundFileError) {
      errno = 0
      let number = unsafe sf_close(handle)
      guard number == 0 else {
        throw unsafe error(String(cString: sf_error_number(number)), path: path, reading: false)
      }
    }

    /// Returns the error of the last call, with the system's reason if there is one, or else with
    /// libsndfile's message.
    private static func error(_ message: @autoclosure () -> String, path: String, reading: Bool)
      -> SoundFileError
    {
      let system = errno
      if system == ENOSPC || system == EDQUOT {
        return SoundFileError(
          kind: .diskFull, path: path,
          description: "the disk is full; free some space or choose another folder")
      }
      if system != 0, !reading {
        let reason = unsafe String(cString: strerror(system))
        return SoundFileError(
          kind: .systemRefused, path: path, description: "cannot write: \(reason)")
      }
      let message = message()
      // libsndfile names its own structure if the values of a valid header are impossible.
      if reading, message.containsText("SF_INFO") { return .invalidHeader(path) }
      return SoundFileError(
        kind: reading ? .notSound : .unsupportedFormat, path: path,
        description: reading
          ? "is not a readable sound file (libsndfile: \(message))"
          : "cannot be written in this format (libsndfile: \(message))")
    }

    private static func message(of handle: OpaquePointer?) -> String {
      // For an unnumbered error, libsndfile would print a line to standard output.
      unsafe sf_error(handle) < 0 ? "error without a name" : String(cString: sf_strerror(handle))
    }
  }
#endif
