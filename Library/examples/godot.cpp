// Haptic patterns in Godot 4: a GDExtension with the class TemblorHaptics, which renders patterns and plays them on devices.
//
//   c++ -std=c++17 -shared -fPIC godot.cpp -o libtemblor_godot.so -I godot-cpp/include -I godot-cpp/gen/include
//     -I godot-cpp/gdextension $(pkg-config --cflags --libs temblor) -L godot-cpp/bin -lgodot-cpp.linux.template_debug.x86_64
//
// temblor.gdextension, in the folder of the project:
//
//   [configuration]
//   entry_symbol = "temblor_godot_init"
//   compatibility_minimum = "4.2"
//   [libraries]
//   linux.x86_64 = "libtemblor_godot.so"
//
// GDScript:
//
//   var haptics = TemblorHaptics.new()
//   if haptics.open("res://knock.ahap") and haptics.open_device("default", 0, 1.0):
//       var play = haptics.play()
//       haptics.set_control(play, TemblorHaptics.INTENSITY, 0.5, 0.1)
//   else:
//       push_error(haptics.get_error())
#include <cstring>

#include <godot_cpp/classes/file_access.hpp>
#include <godot_cpp/classes/ref_counted.hpp>
#include <godot_cpp/core/class_db.hpp>
#include <godot_cpp/godot.hpp>
#include <godot_cpp/variant/packed_byte_array.hpp>
#include <godot_cpp/variant/packed_float32_array.hpp>
#include <temblor.h>

using namespace godot;

/// A host of the library, with one pattern and one device. It may be used by one thread at a time.
class TemblorHaptics : public RefCounted {
  GDCLASS(TemblorHaptics, RefCounted)

 public:
  enum Control { INTENSITY = 0, SHARPNESS = 1, GAIN = 2, STOP = 3 };

  TemblorHaptics() : host(temblor_create()) {}
  ~TemblorHaptics() { temblor_release(host); }

  /// Reads a pattern file of any supported format.
  bool open(const String &path) {
    const PackedByteArray content = FileAccess::get_file_as_bytes(path);
    const CharString name = path.utf8();
    return temblor_open(host, 0, name.get_data(), (int32_t)name.length(), content.ptr(), (int32_t)content.size()) == 1;
  }

  /// Adds a profile from the text of its JSON file, and returns its number, or -1.
  int64_t add_profile(const String &text) {
    const CharString content = text.utf8();
    return temblor_add_profile(host, content.get_data(), (int32_t)content.length());
  }

  /// Renders the pattern on one channel, from -1 to 1, for example for AudioStreamGeneratorPlayback.
  PackedFloat32Array render(int64_t profile, double rate) {
    PackedFloat32Array samples;
    const int32_t count = temblor_render(host, 0, number(profile), rate);
    samples.resize(count);
    if (count > 0) std::memcpy(samples.ptrw(), temblor_samples(host), (size_t)count * sizeof(float));
    return samples;
  }

  /// Opens a device by its name, such as "default", with a strength from 0 to 1.
  bool open_device(const String &device, int64_t profile, double strength) {
    const CharString name = device.utf8();
    this->profile = number(profile);
    return temblor_session_open(
               host, name.get_data(), (int32_t)name.length(), this->profile, 48000, strength) == 1;
  }

  /// Plays the pattern immediately, and returns the number of the playback, or -1.
  int64_t play() { return temblor_session_play(host, 0, profile, -1); }

  /// Moves a control of a playback within some seconds. Returns false if the playback has ended,
  /// or no device is open.
  bool set_control(int64_t play, int64_t control, double value, double seconds) {
    return temblor_session_control(host, number(play), number(control), value, seconds, -1) == 1;
  }

  /// Fades out, and closes the device.
  void close_device() { temblor_session_close(host); }

  /// Returns the reason of the last call as JSON if it failed, else an empty text.
  String get_error() const {
    if (temblor_status(host) == TEMBLOR_OK) return String();
    return String::utf8((const char *)temblor_output(host), temblor_output_length(host));
  }

 protected:
  static void _bind_methods() {
    ClassDB::bind_method(D_METHOD("open", "path"), &TemblorHaptics::open);
    ClassDB::bind_method(D_METHOD("add_profile", "text"), &TemblorHaptics::add_profile);
    ClassDB::bind_method(D_METHOD("render", "profile", "rate"), &TemblorHaptics::render, DEFVAL(0), DEFVAL(48000.0));
    ClassDB::bind_method(
        D_METHOD("open_device", "device", "profile", "strength"), &TemblorHaptics::open_device, DEFVAL(0), DEFVAL(1.0));
    ClassDB::bind_method(D_METHOD("play"), &TemblorHaptics::play);
    ClassDB::bind_method(
        D_METHOD("set_control", "play", "control", "value", "seconds"), &TemblorHaptics::set_control, DEFVAL(0.0));
    ClassDB::bind_method(D_METHOD("close_device"), &TemblorHaptics::close_device);
    ClassDB::bind_method(D_METHOD("get_error"), &TemblorHaptics::get_error);
    BIND_ENUM_CONSTANT(INTENSITY);
    BIND_ENUM_CONSTANT(SHARPNESS);
    BIND_ENUM_CONSTANT(GAIN);
    BIND_ENUM_CONSTANT(STOP);
  }

 private:
  /// Returns a number of the library; one that has more than 32 bits becomes -1, which the library refuses.
  static int32_t number(int64_t value) { return value == (int32_t)value ? (int32_t)value : -1; }

  temblor *host;
  int32_t profile = 0;
};

VARIANT_ENUM_CAST(TemblorHaptics::Control);

static void initialize(ModuleInitializationLevel level) {
  if (level == MODULE_INITIALIZATION_LEVEL_SCENE) GDREGISTER_CLASS(TemblorHaptics);
}

static void terminate_extension(ModuleInitializationLevel) {}

extern "C" GDExtensionBool GDE_EXPORT temblor_godot_init(
    GDExtensionInterfaceGetProcAddress get_address, GDExtensionClassLibraryPtr library,
    GDExtensionInitialization *initialization) {
  GDExtensionBinding::InitObject object(get_address, library, initialization);
  object.register_initializer(initialize);
  object.register_terminator(terminate_extension);
  object.set_minimum_library_initialization_level(MODULE_INITIALIZATION_LEVEL_SCENE);
  return object.init();
}
