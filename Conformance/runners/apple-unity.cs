// Reads a file as Apple's Unity plug-in does, for the runner `apple-unity`. It replaces the types of Unity that the plug-in
// mentions: messages are not printed, sound files are in the working folder, and the other types have no function.
using System;
using System.IO;

public static class Reader {
  public static int Main(string[] arguments) {
    System.Threading.Thread.CurrentThread.CurrentCulture = System.Globalization.CultureInfo.InvariantCulture;
    try {
      new Apple.CoreHaptics.CHHapticPattern(File.ReadAllText(arguments[0]));
      return 0;
    } catch (Exception error) {
      Console.Error.WriteLine(error.Message);
      return 2;
    }
  }
}

namespace UnityEngine {
  public class Object { }
  public class TextAsset : Object { public string text; }
  public class HideInInspector : Attribute { }
  public static class Application { public static string streamingAssetsPath = ""; }
  public static class Mathf { public static float Clamp(float value, float low, float high) => value; }
  public static class Debug {
    public static void LogError(object message) { }
    public static void LogWarning(object message) { }
  }
  public struct Keyframe { public float time, value; }
  public class AnimationCurve {
    public Keyframe[] keys = { };
    public void AddKey(float time, float value) { }
  }
  public struct Vector2 { public float x, y; }
  public struct Vector3 { public float x, y, z; }
  public struct Vector4 { public float x, y, z, w; }
  public struct Quaternion { public float x, y, z, w; }
  public struct Color { public float r, g, b, a; }
  public struct Rect { public float x, y, width, height; }
  public struct Bounds { public Vector3 center, extents; }
}
