package interop;

import org.apache.dubbo.config.ApplicationConfig;
import org.apache.dubbo.config.ProtocolConfig;
import org.apache.dubbo.config.RegistryConfig;
import org.apache.dubbo.config.ServiceConfig;
import org.apache.dubbo.config.bootstrap.DubboBootstrap;

/**
 * Dubbo provider. Arguments: application=, name= (what it answers), host= (where it listens; Dubbo
 * takes no address that starts with "127.", but a name of one), port=, protocol= (tri or dubbo),
 * metadata= (port of its metadata service), registry= (absent: none, as behind a sidecar).
 */
public final class Provider {
  private Provider() {}

  public static void main(String[] words) {
    Arguments arguments = new Arguments(words);
    String name = arguments.text("name");

    ApplicationConfig application = new ApplicationConfig(arguments.text("application"));
    application.setQosEnable(false);
    if (arguments.has("metadata")) {
      application.setMetadataServicePort(arguments.number("metadata"));
      application.setMetadataServiceProtocol("dubbo");
    }
    RegistryConfig registry = new RegistryConfig(
        arguments.has("registry") ? arguments.text("registry") : RegistryConfig.NO_AVAILABLE);
    registry.setRegisterMode("instance");
    ProtocolConfig protocol =
        new ProtocolConfig(arguments.text("protocol"), arguments.number("port"));
    protocol.setHost(arguments.text("host"));

    ServiceConfig<Greeter> service = new ServiceConfig<>();
    service.setInterface(Greeter.class);
    service.setRef(question -> name);

    DubboBootstrap bootstrap = DubboBootstrap.getInstance();
    bootstrap.application(application).registry(registry).protocol(protocol).service(service);
    bootstrap.start();
    Report.line("{\"event\":\"up\",\"name\":" + Report.quoted(name) + "}");
    bootstrap.await();
  }
}
